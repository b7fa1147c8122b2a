/* Progress on stderr: one line rewritten in place, only when stderr is a terminal; NO_COLOR is
 * respected. */
#ifndef TL_IO_PROGRESS_H
#define TL_IO_PROGRESS_H

void progress_set(const char *fmt, ...)
	__attribute__((format(printf, 1, 2))); /* at most 10 a second */
void progress_clear(void);		       /* before any other line on stderr, and at the end */
int progress_color(int fd);		       /* may colours be used on this file descriptor? */

#endif
