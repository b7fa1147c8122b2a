/* What the threads of a warp touch when they access memory together (NVIDIA, "CUDA C++ Programming
 * Guide", "Compute capabilities": a block's memory has 32 banks of 4 bytes; global memory moves in
 * sectors of 32 bytes).
 *
 * at[] has the element where the access of each thread begins. A thread accesses `bytes` side by
 * side, and an element has `size` bytes.
 */
#ifndef TL_DRAFT_WARP_H
#define TL_DRAFT_WARP_H

#include <stdint.h>

enum { WARP_THREADS = 32, WARP_BANKS_BYTES = 128, WARP_SECTOR_BYTES = 32 };

/* A count, and the least that it could be. */
struct warp_count {
	double done, least;
};

/* Cycles for which the banks are busy. A half or a quarter of the warp at a time makes an access of
 * 8 or 16 bytes a thread. Threads that want the same word get it together. */
struct warp_count warp_banks(const int64_t *at, int threads, int bytes, int size);
/* Distinct sectors, and how many the same values would fill if they lay side by side. */
struct warp_count warp_sectors(const int64_t *at, int threads, int bytes, int size);

#endif
