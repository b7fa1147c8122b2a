/* Who touches a block's memory in the text of simt.h: threads, or what works beside them, which is
 * bulk copies and products by groups of warps. These go another way to the memory, the async proxy
 * (NVIDIA, "Parallel Thread Execution ISA", "Proxies"). A fence orders accesses that go different
 * ways, and costs time; between accesses that go the same way there need be none. For
 * simt_tile.c and simt_bulk.c alone.
 */
#ifndef TL_TARGET_SIMT_PROXY_H
#define TL_TARGET_SIMT_PROXY_H

#include "lib/nest/nest.h"

/* Do threads copy anything themselves? */
int simt_proxy_copies(const struct nest *n);
/* Do threads write what groups multiply? */
int simt_proxy_written(const struct nest *n);
/* Do threads read the buffer? */
int simt_proxy_read(const struct nest *n, int buffer);

#endif
