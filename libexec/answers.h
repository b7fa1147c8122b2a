/* Where a helper answers: on a descriptor of its own (PROC_ANSWERS_FD) if its first argument is
 * --answers, as programs call it; else, for people, on stdout. Libraries of others print on stdout
 * and stderr what they like: both are stderr then. */
#ifndef TL_LIBEXEC_ANSWERS_H
#define TL_LIBEXEC_ANSWERS_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/descriptors.h"
#include "lib/io/proc.h"

/* Takes the argument away. NULL: there is no such descriptor. */
static inline FILE *answers_open(int *argc, char ***argv)
{
	int apart = *argc > 1 && !strcmp((*argv)[1], "--answers"), fd;

	descriptors_open();
	if (apart) {
		--*argc;
		++*argv;
	}
	fd = fcntl(apart ? PROC_ANSWERS_FD : STDOUT_FILENO, F_DUPFD_CLOEXEC, PROC_ANSWERS_FD);
	if (fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return NULL;
	if (apart)
		close(PROC_ANSWERS_FD);
	return fdopen(fd, "w");
}

/* 0; -1: what was answered could not be written. */
static inline int answers_close(FILE *answers)
{
	int bad = ferror(answers);

	return fclose(answers) || bad ? -1 : 0;
}

#endif
