/* Memory of CUDA's devices that ends before addresses that nothing lies at, so that a kernel that
 * leaves its operands dies of it (NVIDIA, "CUDA Driver API", "Virtual Memory Management").
 */
#ifndef TL_TARGET_CUDA_GUARDED_H
#define TL_TARGET_CUDA_GUARDED_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

struct cuda_guarded {
	uint64_t at; /* of the bytes asked for; a multiple of 256 */
	uint64_t reserved, mapped, memory;
	size_t reserved_bytes, mapped_bytes; /* 0: there is nothing to give back */
};

/* Less than 256 bytes behind the n ones there is nothing, for 64 MiB. Takes memory in pieces of
 * about 2 MiB. -1 with errno ENOSYS: the driver or the device cannot do this. */
int cuda_guarded_open(struct cuda_guarded *g, int device, size_t n, struct err *e);
void cuda_guarded_close(struct cuda_guarded *g);

#endif
