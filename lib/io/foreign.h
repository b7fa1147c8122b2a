/* Recognizes files that a program does not read, by their first bytes. A wrong file then gets one
 * sentence, which says what to do, instead of an error for each line.
 */
#ifndef TL_IO_FOREIGN_H
#define TL_IO_FOREIGN_H

#include <stddef.h>

/* What the file is and what to do with it, by its first bytes (300 are enough). NULL: nothing that
 * is known, or something that one of the programs reads. */
const char *foreign_hint(const char *s, size_t n);
/* The same where records are wanted: models, archives, lists and other JSON are foreign, too. */
const char *foreign_to_records(const char *s, size_t n);
/* What a file is that is to be replaced, if that would be a pity: a database, a model, an archive,
 * an array. NULL: nothing that is known, or a text. */
const char *foreign_treasure(const char *s, size_t n);
/* The same by the name of an archive's member: the archive is a model of another kind. before: what
 * the members before it said. NULL: nothing. */
const char *foreign_member(const char *name, const char *before);

#endif
