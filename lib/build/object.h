/* Objects as files of the cache: sealed (lib/io/seal.h) before they get their names. */
#ifndef TL_BUILD_OBJECT_H
#define TL_BUILD_OBJECT_H

/* Gives a file another name beside its own. temporary: a path in the same folder tree that nobody
 * else uses. Under the name there is the old file or the new one, whole, at any time; and the new
 * one's data is on the disk if `from` was. -1 with errno. */
int object_put(const char *from, const char *temporary, const char *name);

#endif
