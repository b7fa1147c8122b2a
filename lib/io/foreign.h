/* Files of other kinds than a program reads, known by how they begin: so that a wrong file gets one
 * sentence, which tells the mend, and not a complaint a line.
 */
#ifndef TL_IO_FOREIGN_H
#define TL_IO_FOREIGN_H

#include <stddef.h>

/* What the file is and what to do with it, by its first bytes (300 are enough). NULL: nothing that
 * is known, or something that one of the programs reads. */
const char *foreign_hint(const char *s, size_t n);
/* The same where records are wanted: models, archives, lists and other JSON are foreign, too. */
const char *foreign_to_records(const char *s, size_t n);
/* An archive's member by whose name it is told that the archive is a model of another kind. */
const char *foreign_member(const char *name);

#endif
