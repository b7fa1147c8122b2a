/* Files that are no streams of records, known by how they begin: so that a wrong file gets one
 * sentence, which tells the mend, and not a complaint a line.
 */
#ifndef TL_IO_FOREIGN_H
#define TL_IO_FOREIGN_H

#include <stddef.h>

/* What the file is and what to do with it, by its first bytes. NULL: nothing that is known. */
const char *foreign_hint(const char *s, size_t n);

#endif
