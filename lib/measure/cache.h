/* The build cache: compiled kernels by content.
 *
 * An object's key is the hash of its source text, the compiler's command and the compiler's
 * version; so candidates that differ in run-time arguments only share one object. Objects lie in
 * $TL_CACHE, else
 * ${XDG_CACHE_HOME:-~/.cache}/tl, under objects/. They appear by rename, whole or not at all.
 * Builds run beside each other as child processes while the caller goes on. What is not whole yet
 * is removed when the cache is closed, or when the process ends by exit().
 */
#ifndef TL_MEASURE_CACHE_H
#define TL_MEASURE_CACHE_H

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/base/map.h"
#include "lib/io/proc.h"

enum build_state { BUILD_QUEUED, BUILD_RUNNING, BUILD_DONE, BUILD_FAILED };

struct build {
	struct id code;
	const char *text; /* of the source */
	size_t text_n;
	char *source;	 /* path */
	char *object;	 /* path */
	char *temporary; /* path of the object until it is whole */
	enum build_state state;
	int late;	    /* failed, because the compiler took too long */
	int cached;	    /* was there before */
	double seconds;	    /* the compiler's time on the clock */
	const char *why;    /* BUILD_FAILED: the compiler's first error line */
	struct build *next; /* in the queue */
};

struct cache {
	char *dir;
	char isa[16];
	char *command_text; /* compiler command and version, hashed with each source */
	double timeout_s;
	int jobs;
	struct arena arena;
	struct map builds; /* by code hash */
	struct build *queue, **queue_end;
	char *canary_source, *canary_object;
	struct cache *open; /* another one that is open */
	char tag[32];	    /* of this cache among all that share the folder */
	struct job *job;    /* jobs of them */
	int64_t built;
};

/* Puts the path of a folder of the cache ("objects") into out, and makes it where it is not there.
 */
int cache_folder(const char *what, struct buf *out, struct err *e);
/* Finds or makes the folder, asks the compiler for its version and builds a canary: an error here
 * is the machine's fault and no candidate's. */
int cache_open(struct cache *c, const char *isa, int jobs, struct err *e);
/* The build for a source text: known, there already, or queued. The pointer lives as long as the
 * cache. */
struct build *cache_add(struct cache *c, const char *source, size_t n, struct err *e);
/* Builds anew what is there but damaged, or has gone. */
int cache_again(struct cache *c, struct build *b, struct err *e);
/* Starts what can start and takes in what has ended, without waiting. */
int cache_poll(struct cache *c, struct err *e);
/* Until this build (NULL: every build) has ended: 0; 1 if a signal stopped it; -1. */
int cache_wait(struct cache *c, const struct build *b, struct err *e);
/* Builds the canary anew. */
int cache_canary(struct cache *c, struct err *e);
void cache_close(struct cache *c); /* kills running compilers */

#endif
