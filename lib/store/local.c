#include "lib/store/local.h"

enum { NEWEST = 4096, AMONG = 100000 };

static int take(void *arg, const char *line, size_t n, struct err *e)
{
	struct dataset *d = arg;
	struct err ignored = ERR_INIT;

	(void)e;
	dataset_add(d, line, n, &ignored); /* what an older version wrote may make no sense now */
	return 0;
}

int local_adapt(struct store *s, const char *env_id, const struct limits *here, struct model *m,
		struct adaption *a, struct err *e)
{
	struct dataset d;
	int rc;

	dataset_open(&d, here);
	rc = store_newest(s, env_id, NEWEST, AMONG, take, &d, e);
	if (rc == 0)
		rc = adapt_model(m, &d, a, e);
	dataset_close(&d);
	return rc;
}
