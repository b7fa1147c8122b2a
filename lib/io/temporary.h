/* Files and folders that must not outlive the process unless it says otherwise: what is written
 * beside an output until it is whole.
 *
 * They are removed by exit(), wherever the process ends by it, and where a signal ends it
 * (lib/io/record.h), the youngest first, so that files go before the folder that they are in.
 */
#ifndef TL_IO_TEMPORARY_H
#define TL_IO_TEMPORARY_H

struct temporary;

/* The path (which is copied) is removed at the end, if it is there; at once where there is no
 * memory to note it. */
struct temporary *temporary_add(const char *path);
/* It stays, or is gone already. */
void temporary_forget(struct temporary *t);
/* Removes it now. */
void temporary_remove(struct temporary *t);
/* Removes all of them. May be called in a signal's handler. */
void temporary_remove_all(void);

#endif
