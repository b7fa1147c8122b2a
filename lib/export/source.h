/* The sources of an export: a file a kernel, the table of operators, the manifest.
 *
 * Names begin with `prefix`, a name in C, so that several exports fit into one program. What the
 * texts stand on is share/export/: its tlx.h says what the library's callers see, tlx_kernels.h
 * what kernels and table are.
 */
#ifndef TL_EXPORT_SOURCE_H
#define TL_EXPORT_SOURCE_H

#include "lib/base/buf.h"
#include "lib/export/piece.h"

/* "avx2_0123456789ab": of the kernel and its file; of the definition of a workload "definition_.."
 */
void source_name(const struct piece *p, struct buf *out);
void source_definition_name(const struct workload *w, struct buf *out);
/* The source of a kernel; and of its workload's definition. */
int source_kernel(const struct piece *p, const char *prefix, struct buf *out, struct err *e);
int source_definition(const struct workload *w, const char *prefix, struct buf *out, struct err *e);
/* What the kernels' sources share. */
void source_prelude(struct buf *out);
void source_table(struct piece *const *list, size_t n, const char *prefix, struct buf *out);
/* JSON: an array of kernels. */
void source_manifest(struct piece *const *list, size_t n, const char *prefix, struct buf *out);

#endif
