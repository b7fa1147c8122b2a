#include "lib/target/gpu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/io/keep.h"

enum { LANES = 4, REGISTERS = 255, NOT_THERE = 127, MESSAGE_MAX = 2000 };
static const double ANSWER_S = 60; /* a driver's first start takes seconds */

int gpu_limits(const struct gpu_arch *list, const char *name, const struct target *t,
	       struct limits *m)
{
	const struct gpu_arch *a = list;

	while (a->name && strcmp(a->name, name) != 0)
		a++;
	if (!a->name)
		return -1;
	*m = (struct limits){
		.target = t,
		.lanes = LANES,
		.vregs = REGISTERS,
		.fma_per_cycle = 1,
		.load_per_cycle = 1,
		.store_per_cycle = 1,
		.issue_per_cycle = 1,
		.fma_latency = 4,
		.window = 32,
		.threads = a->processors,
		.l1d = a->block_bytes,
		.l2 = a->l2,
		.l3 = a->l2,
		.hz = a->hz,
		.mma = a->mma,
	};
	snprintf(m->isa, sizeof m->isa, "%s", name);
	return 0;
}

/* Where the command is; its bare name if that is nowhere, so that starting it says so. */
static const char *path_of(const char *helper)
{
	static char path[4096];
	struct buf found = BUF_INIT;
	struct err ignored = ERR_INIT;
	int rc = path_libexec(&found, helper, &ignored);

	snprintf(path, sizeof path, "%s", rc == 0 ? found.s : helper);
	buf_free(&found);
	return path;
}

void gpu_compile(const char *helper, const char *arch, const char *source, const char *object,
		 char *argv[TARGET_ARGS])
{
	static char option[64];
	int n = 0;

	snprintf(option, sizeof option, "--arch=%s", arch);
	argv[n++] = (char *)path_of(helper);
	argv[n++] = option;
	argv[n++] = (char *)"-o";
	argv[n++] = (char *)object;
	argv[n++] = (char *)source;
	argv[n] = NULL;
}

void gpu_features(const struct limits *m, struct buf *out)
{
	(void)m, (void)out;
}

/* "cuda: error: there is none" -> "there is none", the first such line. */
static void put_sentence(const struct buf *log, struct err *e)
{
	const char *text = log->s ? log->s : "", *error = strstr(text, "error: ");

	text = error ? error + strlen("error: ") : text;
	err_set(e, "%.*s", (int)strcspn(text, "\n"), text);
}

int gpu_ask(const char *helper, const char *option, struct buf *out, struct err *e)
{
	char *argv[] = {(char *)path_of(helper), (char *)"--answers", (char *)option, NULL};
	struct buf text = BUF_INIT, log = BUF_INIT;
	int rc = keep_ask(&(const struct keep){.ours = 1, .no_network = 1}, argv, PROC_ANSWERS,
			  ANSWER_S, MESSAGE_MAX, &text, &log, e);

	if (rc == 0) {
		buf_add(out, text.s ? text.s : "", text.s ? strcspn(text.s, "\n") : 0);
	} else if (rc > 0) {
		put_sentence(&log, e);
		errno = rc == NOT_THERE ? ENOENT : ENODEV;
	}
	buf_free(&text);
	buf_free(&log);
	return rc ? -1 : 0;
}
