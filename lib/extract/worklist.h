/* The workloads found, each once, with where they were found; in order of first appearance.
 *
 * A source is "MODEL:HASH12:NODE" (for lists and logs: file, hash, line). What makes it the same
 * source is the part behind the model's name, so that an extraction that is repeated, or of a
 * renamed copy, adds nothing; the count of a workload is the number of its sources.
 */
#ifndef TL_EXTRACT_WORKLIST_H
#define TL_EXTRACT_WORKLIST_H

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/map.h"
#include "lib/io/json.h"
#include "lib/op/op.h"

struct work {
	struct workload w;
	char *line;	   /* the record it came in, whose other fields are kept; or NULL */
	struct map source; /* "HASH12:NODE" -> the whole source, a char * */
};

struct worklist {
	struct map by_id;     /* struct work * */
	int64_t source_bytes; /* of what worklist_has_room() took, about */
};

/* How many more sources of that length may be added: all together take 64 MiB at most. */
int64_t worklist_room(const struct worklist *l, size_t length);
/* Takes room for so many. 0: there is none. */
int worklist_has_room(struct worklist *l, int64_t sources, size_t length);

/* w must be finished. line (may be NULL) is copied if the workload is new. */
struct work *worklist_put(struct worklist *l, const struct workload *w, const char *line, size_t n);
/* The workload of a record that d holds the parse of, with the record's sources added to those that
 * it has; NULL: it is no such record. A record without sources stands for as many as it counts, in
 * a model of the name stem. instances: how many operators the record stands for. */
struct work *worklist_merge(struct worklist *l, struct json_doc *d, struct arena *a,
			    const char *stem, int64_t *instances, struct err *e);
/* 1 if the source is new. */
int work_add_source(struct work *k, const char *source);
/* Forgets where it was found. */
void work_drop_sources(struct work *k);
/* Adds all of another list, in its order. */
void worklist_add(struct worklist *to, const struct worklist *from);
/* The record's line, without its newline. */
void work_print(const struct work *k, struct json_doc *scratch, struct buf *out);
void worklist_free(struct worklist *l);

#endif
