/* Options of a command line that a list or a log holds: "-n 1 --in_h 28 --bias". */
#ifndef TL_EXTRACT_LIST_COMMAND_H
#define TL_EXTRACT_LIST_COMMAND_H

#include <stddef.h>
#include <stdint.h>

enum { COMMAND_OPTIONS = 32 };

/* The names of an option: with one hyphen, and with two; either may be NULL. */
struct command_name {
	const char *brief, *full;
};

struct command {
	const struct command_name *name;
	int n;
	/* The word behind each option, not ended by a NUL; NULL: the option is not there. An option
	 * without a word has one of no length. */
	const char *value[COMMAND_OPTIONS];
	size_t length[COMMAND_OPTIONS];
};

/* Options that are not among the n names are passed over. */
void command_read(struct command *c, const struct command_name *name, int n, const char *line);
/* The number of option i, or other where it is not there. What is no number is -1. */
int64_t command_int(const struct command *c, int i, int64_t other);
int command_is(const struct command *c, int i, const char *word);

#endif
