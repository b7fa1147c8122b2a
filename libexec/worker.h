/* What the workers have in common: they run kernels for tl-measure, and are not for people.
 * Without arguments a worker serves (lib/trial/serve.h); --libs prints the library's version,
 * --probe a line of what the device can do (lib/target/runner.h). */
#ifndef TL_LIBEXEC_WORKER_H
#define TL_LIBEXEC_WORKER_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/memory.h"
#include "lib/trial/serve.h"

static inline int worker_probe(const struct runner *runner)
{
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;
	struct limits m;
	int rc = runner->target->limits(&m, &e);

	if (rc == 0)
		rc = runner->probe(&m, &out, &e);
	if (rc == 0)
		puts(out.s);
	else
		fprintf(stderr, "worker-%s: %s\n", runner->target->name, e.msg);
	buf_free(&out);
	return rc == 0 && !fflush(stdout) ? EXIT_DONE : EXIT_INPUT;
}

static inline int worker_main(int argc, char **argv, const struct serve *with)
{
	FILE *answers; /* the pipe to the supervisor */
	int fd, rc;

	if (argc == 2 && !strcmp(argv[1], "--libs")) {
		puts(with->vendor ? with->vendor->version() : "none");
		return EXIT_DONE;
	}
	if (argc == 2 && !strcmp(argv[1], "--probe"))
		return worker_probe(with->runner);
	if (argc != 1) {
		fprintf(stderr,
			"worker-%s: serves tl-measure; it is not meant to be called by hand\n",
			with->runner->target->name);
		return EXIT_USAGE;
	}
	/* Libraries may print on stdout (ONEDNN_VERBOSE): give them stderr, and keep the pipe. */
	fd = dup(STDOUT_FILENO);
	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || !(answers = fdopen(fd, "w")))
		return EXIT_INPUT;
	memory_kill_first(500); /* rather than whatever else the machine is there for */
	rc = serve(with, answers);
	fclose(answers);
	return rc < 0 ? EXIT_INPUT : EXIT_DONE;
}

#endif
