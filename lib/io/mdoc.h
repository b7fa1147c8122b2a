/* Text for manual pages in mdoc. */
#ifndef TL_IO_MDOC_H
#define TL_IO_MDOC_H

#include "lib/base/buf.h"

/* Appends the text, each sentence on its own line, and a newline. `quotes` become quotation marks,
 * references such as tl-check(1) become links. */
void mdoc_text(const char *text, struct buf *out);

#endif
