#include "lib/io/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_width(int fd)
{
	struct winsize size;

	if (isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return TERMINAL_WIDTH;
}

int terminal_color(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}
