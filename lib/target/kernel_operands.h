/* Operands of the processor's kernels in other types than single precision: copies between guards,
 * as elements of these types. Operands in single precision stay where they are.
 */
#ifndef TL_TARGET_KERNEL_OPERANDS_H
#define TL_TARGET_KERNEL_OPERANDS_H

#include "lib/target/runner.h"

/* As struct runner has them; what is converted belongs to the kernel. */
int kernel_operands_put(struct kernel *k, void *const *buffers, const size_t *bytes,
			const enum elem *elem, int n, struct err *e);
int kernel_operands_take(struct kernel *k, int i, void *to, size_t bytes, struct err *e);
const void *kernel_operands_at(const struct kernel *k, int i, const void *from, size_t *bytes);
/* The operands that a call gets: `buffers`, or the kernel's own copies beside those that stay. */
void *const *kernel_operands(const struct kernel *k, void *const *buffers);
void kernel_operands_free(struct kernel *k);

#endif
