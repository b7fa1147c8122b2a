#include "lib/answer/local.h"

#include <stdio.h>

#include "lib/model/default.h"

enum { NEWEST = 4096, AMONG = 100000 };

struct model *local_load(const char *path, const struct limits *here, struct err *e)
{
	struct model *m = model_load(path, features_list(here->target), e);

	if (m)
		model_meet(m, here);
	return m;
}

int local_open(const char *named, int pretrained, const struct limits *here, struct model **m,
	       struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = model_default(named, pretrained, here->target, &path, e);

	*m = rc > 0 ? local_load(path.s, here, e) : NULL;
	buf_free(&path);
	return rc < 0 || (rc && !*m) ? -1 : 0;
}

static int take(void *arg, const char *line, size_t n, struct err *e)
{
	struct dataset *d = arg;
	struct err ignored = ERR_INIT;

	(void)e;
	dataset_add(d, line, n, &ignored); /* it may be of another revision */
	return 0;
}

/* The newest times of the env. */
static int read_times(struct store *s, const char *env_id, const struct limits *here,
		      struct dataset *d, struct err *e)
{
	dataset_open(d, here->target, here);
	return store_newest(s, env_id, NEWEST, AMONG, take, d, e) || dataset_finish(d, e) ? -1 : 0;
}

int local_adapt(struct store *s, const char *env_id, const struct limits *here, struct model **m,
		char why[LOCAL_WHY], struct err *e)
{
	struct adaption found;
	struct dataset d;
	int rc;

	rc = read_times(s, env_id, here, &d, e);
	if (rc == 0)
		rc = adapt_model(*m, &d, &found, e);
	dataset_close(&d);
	if (rc)
		return -1;
	if (found.what != ADAPTED_USELESS)
		return (int)found.what;
	snprintf(why, LOCAL_WHY,
		 "the model ranks the %lld times known of this machine with a correlation of %.2f",
		 (long long)found.times, found.rank);
	model_free(*m);
	*m = NULL;
	return ADAPTED_USELESS;
}

int local_learn(struct store *s, const char *env_id, const struct limits *here, struct model **m,
		struct err *e)
{
	struct dataset d;
	int rc = read_times(s, env_id, here, &d, e);

	*m = NULL;
	if (rc == 0)
		rc = adapt_learn(&d, m, e);
	dataset_close(&d);
	return rc;
}
