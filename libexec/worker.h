/* What the workers have in common: they run kernels for tl-measure, and are not for people.
 * Without arguments a worker serves (lib/trial/serve.h); --libs tells the library's version,
 * --probe a line of what the device can do (lib/target/runner.h); --answers before these says where
 * the answers go (answers.h). */
#ifndef TL_LIBEXEC_WORKER_H
#define TL_LIBEXEC_WORKER_H

#include <stdio.h>
#include <string.h>

#include "lib/io/memory.h"
#include "lib/trial/serve.h"
#include "libexec/answers.h"

static inline int worker_probe(const struct runner *runner, FILE *answers)
{
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;
	struct limits m;
	int rc = runner->target->limits(&m, &e);

	if (rc == 0)
		rc = runner->probe(&m, &out, &e);
	if (rc == 0)
		fprintf(answers, "%s\n", out.s);
	else
		fprintf(stderr, "worker-%s: %s\n", runner->target->name, e.msg);
	buf_free(&out);
	return rc == 0 ? EXIT_DONE : EXIT_INPUT;
}

static inline int worker_answer(int argc, char **argv, const struct serve *with, FILE *answers)
{
	if (argc == 2 && !strcmp(argv[1], "--libs")) {
		fprintf(answers, "%s\n", with->compared ? with->compared->version() : "none");
		return EXIT_DONE;
	}
	if (argc == 2 && !strcmp(argv[1], "--probe"))
		return worker_probe(with->runner, answers);
	if (argc != 1) {
		fprintf(stderr,
			"worker-%s: serves tl-measure; it is not meant to be called by hand\n",
			with->runner->target->name);
		return EXIT_USAGE;
	}
	memory_kill_first(500); /* rather than whatever else the machine is there for */
	return serve(with, answers) < 0 ? EXIT_INPUT : EXIT_DONE;
}

static inline int worker_main(int argc, char **argv, const struct serve *with)
{
	FILE *answers = answers_open(&argc, &argv);
	int status = answers ? worker_answer(argc, argv, with, answers) : EXIT_INPUT;

	return answers && answers_close(answers) && !status ? EXIT_INPUT : status;
}

#endif
