/* May code be loaded from a folder? Not if another user could put it there: into the folder itself,
 * or by putting another one in its place.
 *
 * A folder is trusted if it belongs to this user, and if nobody else may write to it. All folders
 * above it belong to this user or to root, and others may write to them only where they cannot
 * rename what is not theirs (the sticky bit, as of /tmp). A user's own group counts as the user. So
 * root does not load from a folder of another user.
 *
 * Whose folder it is. A checksum is for damage; nobody signs anything. So the cache must lie where
 * no other user can put a file or another folder: programs look at the owner and mode of the
 * folder and of all folders above it, and go on with the path without links. Root uses no folder
 * of another user. Between the check and the load only the user himself could change a file.
 * Links, pipes and other users' files in the folder count as not there.
 */
#ifndef TL_IO_TRUST_H
#define TL_IO_TRUST_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* Puts the folder's path without links into out, to be used from then on: a link may be changed.
 * -1: the folder is not trusted, and e says why, or it cannot be told. */
int trust_folder(const char *path, struct buf *out, struct err *e);

#endif
