#include "lib/answer/few_shots.h"

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/buf.h"
#include "lib/base/hash.h"
#include "lib/base/map.h"
#include "lib/host/lock.h"
#include "lib/host/scratch.h"
#include "lib/io/pipeline.h"
#include "lib/io/record.h"

/* tl-tune may take so long beside its time, to begin and to end the round that it is in. */
static const double BESIDE_S = 2;

/* The time that is asked of a race is this share of what a workload has, within these limits. */
static const double OF_SHARE = 1.0 / 50, RACE_LEAST_S = 0.005, RACE_MOST_S = 0.03;

struct few_shots {
	struct scratch scratch;
	struct buf path; /* of the records */
	struct rec_out *records;
	struct map ids;
};

struct few_shots *few_shots_open(const char *program, struct err *e)
{
	struct few_shots *f = xcalloc(1, sizeof *f);

	if (scratch_open(&f->scratch, program, e)) {
		free(f);
		return NULL;
	}
	buf_fmt(&f->path, "%s/workloads", f->scratch.path);
	f->records = rec_create(f->path.s, e);
	if (f->records)
		return f;
	few_shots_close(f);
	return NULL;
}

int few_shots_add(struct few_shots *f, const char *workload_id, const char *record, size_t n,
		  struct err *e)
{
	*map_put(&f->ids, workload_id, ID_HEX, NULL) = f;
	return rec_put(f->records, record, n, e);
}

static double race_time(const struct few_shots *f, const struct few_shots_how *how)
{
	return fmax(fmin(how->seconds / (double)f->ids.n * OF_SHARE, RACE_MOST_S), RACE_LEAST_S);
}

static void fill(struct pipeline *p, const struct few_shots *f, const struct few_shots_how *how,
		 const char *time, const char *race)
{
	pipeline_stage(p, "tl-tune");
	if (how->quiet)
		pipeline_arg(p, "-q");
	pipeline_arg2(p, "-d", how->db);
	pipeline_arg2(p, "--target", how->target);
	pipeline_arg2(p, "-m", how->model);
	pipeline_arg2(p, "--cache", how->caches);
	pipeline_arg2(p, "--time", time);
	pipeline_arg2(p, "--race", race);
	pipeline_arg2(p, "--min-gain", "0");
	pipeline_arg2(p, "--final", "0");
	pipeline_arg2(p, "-o", "/dev/null");
	pipeline_arg(p, f->path.s);
}

/* Who has the machine, if another run still does. */
static void say_late(const struct few_shots_how *how, char late[FEW_SHOTS_LATE])
{
	struct err busy = ERR_INIT;
	struct lock lock;
	int is_free = !lock_take(&lock, how->device, LOCK_TRY, &busy);

	lock_drop(&lock);
	snprintf(late, FEW_SHOTS_LATE, "the time is over before tuning has ended%s%s",
		 is_free ? "" : ": ", is_free ? "" : busy.msg);
}

int few_shots_tune(struct few_shots *f, const struct few_shots_how *how, char late[FEW_SHOTS_LATE],
		   struct err *e)
{
	struct pipeline p = {0};
	char time[32], race[32];
	int status;

	*late = 0;
	if (rec_commit(f->records, e))
		return -1;
	if (!f->ids.n)
		return EXIT_DONE;
	snprintf(time, sizeof time, "%.9gs", how->seconds);
	snprintf(race, sizeof race, "%.9gs", race_time(f, how));
	fill(&p, f, how, time, race);
	p.limit_s = how->seconds + BESIDE_S;
	status = pipeline_run(&p, e);
	if (p.is_late && status == 128 + SIGTERM && !rec_stopped()) {
		say_late(how, late);
		status = EXIT_DONE;
	}
	pipeline_free(&p);
	return status;
}

void few_shots_close(struct few_shots *f)
{
	struct err ignored = ERR_INIT;

	if (!f)
		return;
	rec_discard(f->records);
	scratch_remove(&f->scratch, &ignored);
	buf_free(&f->path);
	map_free(&f->ids);
	free(f);
}
