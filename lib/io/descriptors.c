#include "lib/io/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/err.h"

void descriptors_open(void)
{
	/* The wrong direction on purpose, but for standard error. */
	static const int mode[] = {
		[STDIN_FILENO] = O_WRONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* The lowest number that is free is fd: those below are open by now. */
		if (fcntl(fd, F_GETFD) >= 0 || open("/dev/null", mode[fd]) == fd)
			continue;
		fprintf(stderr,
			"%s: descriptor %d is closed, and /dev/null cannot stand for it: %s\n",
			program_invocation_short_name, fd, strerror(errno));
		_exit(EXIT_INPUT);
	}
}
