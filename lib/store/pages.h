/* Inside of lib/store: pages of a database that show damage.
 *
 * SQLite checks little of what it reads, so a flipped bit in a page may change an answer without a
 * word. A database that is made here therefore ends each page in a checksum of 8 bytes, in the room
 * that the file format reserves for such extensions (byte 20 of the header says how much). They are
 * written and checked by a layer between SQLite and its own file system (a VFS). A page that is not
 * as it was written, or not where, is a failed read, SQLITE_IOERR_DATA. The place of a page did not
 * count in its checksum once: such pages are read, and get it when they are written again; programs
 * of that time take new pages for damaged. Files
 * without that room are read and written as they are, and so are journals, which have checksums by
 * SQLite.
 *
 * Whoever writes such a file without this layer, such as the program sqlite3, leaves pages that
 * count as damaged.
 *
 * SQLite notices little of what happens to its file, and a flipped bit in an index changes an
 * answer without a word. So the pages of a new database end in checksums, by a layer between
 * SQLite and the file. A file that sqlite3 made has none, and is read and written without. A copy
 * by dump and store gives it checksums. A checksum of a result's fields (lib/record/checksum.h)
 * protects it in journals and on pipes. It is over values and not over bytes, so that a filter
 * that somebody writes in another language may print the same record in another way. tests/flip.pl
 * flips bits of any file and asks whether a program noticed; tests/door.t does so for what the
 * door guards.
 */
#ifndef TL_STORE_PAGES_H
#define TL_STORE_PAGES_H

#include <sqlite3.h>

enum { PAGES_RESERVED = 8 };

/* The layer's name for sqlite3_open_v2(), registered once. NULL: SQLite has no memory. */
const char *pages_vfs(void);
/* After opening: the database gets checksums if the file is new. */
void pages_reserve(sqlite3 *db);

#endif
