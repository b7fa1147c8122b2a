/* The build cache: compiled kernels by content.
 *
 * An object's key is the hash of its source text, the compiler's command and the compiler's
 * version; so candidates that differ in run-time arguments only share one object. Objects lie in
 * the cache's folder (lib/host/folder.h) under objects/, as HASH.so with the function that
 * the target's runner knows. They carry a checksum (lib/io/seal.h), which the runner looks at
 * before it loads one. They are renamed into place, so they are never incomplete. When the folder
 * grows beyond TL_CACHE_SIZE the least recently used ones are removed, but never during a run.
 *
 * Builds run beside each other as child processes while the caller goes on. One compiler call
 * builds several kernels, because its start costs as much as a kernel. If it fails, the kernels are
 * built one by one, so that only the faulty one is blamed.
 *
 * One call for several kernels (lib/build/cache.c). Driver, prelude, assembler and linker cost
 * about 20 ms of CPU time for each call, as much as a small kernel, so up to 16 kernels share a
 * call. While candidates come in, a batch starts when eight wait or the first has waited 20 ms.
 * When no more come, the waiting candidates are divided evenly over all compilers.
 *
 * A batch must not change the code. Without -fno-ipa-icf, GCC makes one kernel and a jump to it of
 * two equal kernels. Without -falign-functions=64, a kernel begins in the middle of a cache line
 * and its loops are padded differently. With both, every instruction of a kernel and its offset
 * are the same alone and in a batch; a test compares them for each instruction set.
 *
 * Only the faulty kernel is blamed. The kernels of a batch that fails or is late are built one by
 * one. A failure is the candidate's fault only if the canary builds after it, and if the
 * compiler's message is not about the disk: the canary is so small that it finds room where a
 * kernel does not.
 *
 * The bound. A run holds a shared lock on the folder. At its end it tries to get the lock
 * exclusively. If it gets it, it is alone, removes what dead runs left, and evicts the objects
 * that were not used for longest. So no run loses an object that it uses, and no guess by process
 * id or age is needed to know what is left over. Links of one file are counted once and removed
 * together.
 *
 * Only what is ours is removed. Compilers have all their files, also temporary ones, in a folder
 * of the run (work-PID-HEX), because cc123.o may be anybody's. The sweep removes such folders and
 * names of 32 hex digits with our endings, and only in a folder with our mark, a CACHEDIR.TAG
 * (lib/build/mark.h). A folder gets the mark if nothing but our files is in it. A folder that had
 * other files is used all the same, and keeps everything.
 */
#ifndef TL_BUILD_CACHE_H
#define TL_BUILD_CACHE_H

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/base/map.h"
#include "lib/host/ledger.h"
#include "lib/target/target.h"

enum build_state { BUILD_QUEUED, BUILD_RUNNING, BUILD_DONE, BUILD_FAILED };
/* Why one failed: the source is at fault, the compiler took too long, or it lacked memory or
 * processes, or was killed, twice. */
enum build_fault { FAULT_SOURCE, FAULT_LATE, FAULT_STARVED };

struct build {
	struct id code;
	const char *text; /* the function, of n bytes */
	size_t n;
	const char *why_c; /* why the text is GNU C; NULL: it is assembly */
	char *object;	   /* path */
	enum build_state state;
	int alone;		/* to be built by itself */
	enum build_fault fault; /* BUILD_FAILED */
	int starved;		/* it failed once for want of memory, and has another chance */
	int cached;		/* was there before */
	double queued;		/* when, by clock_now() */
	double seconds;		/* its share of the compilers' time on the clock */
	double cpu_s;		/* and of what they took of the cores */
	const char *why;	/* BUILD_FAILED: the compiler's first error line */
	struct build *next;	/* in the queue, in the batch */
};

struct cache {
	char *dir;
	char *work; /* a folder in dir for the files of our compilers (sweep.h) */
	const struct target *target;
	char isa[16];
	char *command_text; /* compiler command and version, hashed with each source */
	double timeout_s;   /* for a kernel built alone; a batch gets more */
	int jobs;
	struct arena arena;
	struct map builds; /* by code hash */
	struct build *queue, **queue_end;
	int64_t waiting;      /* builds in the queue */
	int hurry;	      /* the caller waits and adds no more: affects the size of batches */
	struct job *job;      /* jobs of them */
	int64_t built, calls; /* objects made, and how often the compiler was called for them */
	double opened;	      /* clock_now() */
	int lock;
	int64_t max_bytes;
	struct ledger *ledger; /* where compilers are charged; may be NULL */
};

/* Finds or makes the folder, asks the compiler for its version and builds a canary: an error here
 * is the machine's fault and no candidate's. */
int cache_open(struct cache *c, const struct target *target, const char *isa, int jobs,
	       struct err *e);
/* The build for a function as the target prints it, with what it says of it: known, there already,
 * or queued. The text is copied; why_c is not. The pointer lives as long as the cache. */
struct build *cache_add(struct cache *c, const char *text, size_t n, const char *why_c);
/* Starts what should start and takes in what has ended, without waiting. Few kernels wait for more
 * for a moment before they start. */
int cache_poll(struct cache *c, struct err *e);
/* Does it build nothing, and does nothing wait to be built? */
int cache_is_idle(const struct cache *c);
/* Until this build (NULL: every build) has ended: 0; 1 if a signal stopped it; -1. */
int cache_wait(struct cache *c, const struct build *b, struct err *e);
/* For an object that was built and does not load, being damaged or gone: builds it anew and waits
 * for it, as cache_wait(). */
int cache_rebuild(struct cache *c, struct build *b, struct err *e);
/* Puts the path of the file that keeps what the object of a build answers to such data into out. */
void cache_truth(const struct cache *c, const struct build *b, const char *data, struct buf *out);
/* Builds the canary anew. */
int cache_canary(struct cache *c, struct err *e);
void cache_close(struct cache *c); /* kills running compilers, and clears up the folder */

#endif
