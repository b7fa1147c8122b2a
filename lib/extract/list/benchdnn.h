/* Command lines of oneDNN's benchdnn, and its batch files: read (dialect_benchdnn) and written.
 *
 *   --conv --dir=FWD_B --stag=axb --attr-post-ops=sum+relu mb1_ic64ih56_oc64oh56_kh3ph1n"a*3"
 *
 * A driver and its options hold for all problems that follow, until --reset. If an option has a
 * list of values with commas, each combination of values is an operator. The options that are read:
 *
 *   --dir                a convolution or inner product has a bias with FWD_B
 *   --dt, --cfg          the types
 *   --stag               the layout of a convolution
 *   --wtag               the right side of a product is computed if this names a layout, and
 *                        constant with "any"
 *   --bia_dt, --bia_mask the bias of a product
 *   --mb                 another batch, of a convolution or an inner product
 *   --attr-post-ops
 *
 * *3 at the end of a problem's name says that the operator occurs three times, as in oneDNN's own
 * lists.
 */
#ifndef TL_EXTRACT_LIST_BENCHDNN_H
#define TL_EXTRACT_LIST_BENCHDNN_H

#include "lib/op/op.h"

/* Appends a command line for a workload, without its newline. name: letters that need no quotes in
 * C. -1: there are no words for it, and nothing was written. */
int benchdnn_print(const struct workload *w, const char *name, int64_t count, struct buf *out);

#endif
