/* Whose folder is it? Files are removed only from a folder that carries our mark, the file
 * CACHEDIR.TAG, which also tells programs that make backups that the folder is a cache
 * (https://bford.info/cachedir/). A folder gets the mark when nothing is in it but files of the
 * build cache. A folder that had other files is used, and nothing is ever removed from it.
 */
#ifndef TL_BUILD_MARK_H
#define TL_BUILD_MARK_H

/* Does the folder carry our mark? */
int mark_is_there(const char *dir);
/* Puts the mark into the folder, if it may have it: is_ours() must be true of each name there. The
 * mark is written in the folder `work` first. That it cannot be written is no error: a later run
 * tries again. */
void mark_put(const char *dir, const char *work, int (*is_ours)(const char *name));

#endif
