/* Reads the options of a command line that a list or a log holds: "-n 1 --in_h=28 --bias". */
#ifndef TL_EXTRACT_LIST_COMMAND_H
#define TL_EXTRACT_LIST_COMMAND_H

#include <stddef.h>
#include <stdint.h>

enum { COMMAND_OPTIONS = 128 };

struct command {
	struct command_option {
		const char *name, *value; /* not ended by a NUL */
		size_t letters, length;	  /* of the name, with its hyphens; of the value, or 0 */
	} option[COMMAND_OPTIONS];
	int n;
};

/* -1: there are more than COMMAND_OPTIONS. */
int command_read(struct command *c, const char *line);
/* The last option of one of these names, such as "-n --batchsize"; NULL: there is none. */
const struct command_option *command_get(const struct command *c, const char *names);
/* Returns its number, other where it is not there, or -1 where its value is no number. */
int64_t command_int(const struct command *c, const char *names, int64_t other);
int command_is(const struct command *c, const char *names, const char *word);

#endif
