/* Command lines of MIOpen's driver, which its log prints, too: read (dialect_miopen) and written.
 *
 *   ./bin/MIOpenDriver conv -n 1 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u 2 -v 2 -l 1 -j 1
 *       -m conv -g 1 -F 1 -t 1
 *   MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver convfp16 -n 1 ...
 */
#ifndef TL_EXTRACT_LIST_MIOPEN_H
#define TL_EXTRACT_LIST_MIOPEN_H

#include "lib/op/op.h"

/* Appends a command line, without its newline. 0: written; -1: MIOpen has no words for it. */
int miopen_print(const struct workload *w, struct buf *out);

#endif
