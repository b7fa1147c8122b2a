/* Command lines of oneDNN's benchdnn, and its batch files: read (dialect_benchdnn) and written
 * (emit.c).
 *
 *   --conv --dir=FWD_B --stag=axb --attr-post-ops=sum+relu mb1_ic64ih56_oc64oh56_kh3ph1_n"a*3"
 *
 * A driver and its options hold for all problems that follow, until --reset. Where no driver is
 * named, it is that of the folder inputs/DRIVER/, or the problem tells it. If an option has a list
 * of values with commas, each combination of values is an operator; nothing follows the last comma.
 * A list goes on in the next line where a line ends with a backslash. The options that are read:
 *
 *   --dir                a convolution or inner product has a bias with FWD_B; none without the
 *                        option, though benchdnn's default is FWD_B
 *   --dt, --cfg          the types
 *   --stag               the layout of a convolution
 *   --wtag               the right side of a product is computed if this names a layout, and
 *                        constant with "any"
 *   --bia-dt, --bia_dt   the type of the bias, of any of these operators
 *   --bia_mask           whether the bias of a product has one value for each column
 *   --mb                 another batch, of a convolution or an inner product
 *   --attr-post-ops
 *   --match              which problems are read
 *   --grouped, --encoding  such products are left out
 *   --batch              a file whose lines count as if they stood here (benchdnn_batch.h)
 *
 * A problem that names no batch has one of 1; benchdnn takes 2. Other sizes that it leaves out, and
 * the padding behind that follows from the output, are benchdnn's (onednn.h). Sizes that --runtime_
 * dims_masks makes known only when it runs are those of the problem. *3 at the end of a problem's
 * name says that the operator occurs three times, as in oneDNN's own lists.
 */
#ifndef TL_EXTRACT_LIST_BENCHDNN_H
#define TL_EXTRACT_LIST_BENCHDNN_H

/* Is this a name as benchdnn's own files have them, "inputs/conv/shapes_basic"? */
int benchdnn_names(const char *path);

#endif
