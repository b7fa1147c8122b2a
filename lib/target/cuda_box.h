/* Tensor maps of boxes (lib/nest/nest.h), which kernels for CUDA take as parameters (NVIDIA, "CUDA
 * Driver API", "Tensor map object management"). For cuda_device.c alone.
 */
#ifndef TL_TARGET_CUDA_BOX_H
#define TL_TARGET_CUDA_BOX_H

#include <stdint.h>

#include "lib/base/err.h"

/* Opaque, as the driver fills it. */
struct cuda_box {
	_Alignas(64) uint64_t word[16];
};

/* Fills b from a box's part of a runner's params (simt.h); the tensor is at this address. -1 with e
 * filled, and errno ENOTSUP: the driver has no tensor maps, or refuses this one. */
int cuda_box_fill(struct cuda_box *b, const long *box, uint64_t address, struct err *e);

#endif
