/* A packing (lib/space/layout.h) as a function in C, so that an exported kernel's weights can be
 * prepared without this toolkit. */
#ifndef TL_EXPORT_PACKING_H
#define TL_EXPORT_PACKING_H

#include "lib/base/buf.h"
#include "lib/space/layout.h"

/* Appends `static void NAME(const float *from, float *to)`, which does what packing_run() does. */
void packing_print(const struct packing *p, const char *name, struct buf *out);

#endif
