/* Options of benchdnn that say what an operator is (list/benchdnn.h says which). Each has a list of
 * values, and each combination of values is an operator.
 *
 *   struct benchdnn_choice c = {{0}, {BUF_INIT}};
 *
 *   do {
 *           benchdnn_choose(&options, &c);
 *           ... c.value[BENCHDNN_DIR].s ...
 *   } while (benchdnn_next(&options, &c));
 *   benchdnn_choice_free(&c);
 */
#ifndef TL_EXTRACT_LIST_BENCHDNN_OPTIONS_H
#define TL_EXTRACT_LIST_BENCHDNN_OPTIONS_H

#include "lib/base/buf.h"

/* The drivers, each of which tests an operator of oneDNN's. */
enum benchdnn_driver {
	BENCHDNN_NONE,
	BENCHDNN_CONV,
	BENCHDNN_MATMUL,
	BENCHDNN_IP,
	BENCHDNN_OTHER, /* and above: operators that are no workloads */
};

/* The driver with this name of n bytes; BENCHDNN_NONE: there is none. */
int benchdnn_driver(const char *name, size_t n);
const char *benchdnn_driver_name(int driver);
/* Does its operator multiply and add? */
int benchdnn_driver_multiplies(int driver);
/* The driver of a file of benchdnn's own that does not name it: these lie in a folder,
 * inputs/DRIVER/. */
int benchdnn_driver_of_path(const char *path);
/* The driver of a problem in letters, "mb1_ic3..", or "5x7:7x9", as far as these tell. */
int benchdnn_driver_of_problem(const char *problem);

enum benchdnn_option {
	BENCHDNN_DIR,
	BENCHDNN_DT,
	BENCHDNN_STAG,
	BENCHDNN_WTAG,
	BENCHDNN_BIA_DT,
	BENCHDNN_BIA_MASK,
	BENCHDNN_MB,
	BENCHDNN_POST_OPS,
	BENCHDNN_LISTS, /* the options above have a list of values, those below one value */
	BENCHDNN_GROUPED = BENCHDNN_LISTS,
	BENCHDNN_ENCODING,
	BENCHDNN_MATCH,
	BENCHDNN_OPTIONS
};

struct benchdnn_options {
	struct buf value[BENCHDNN_OPTIONS]; /* as last said, without a comma at its end */
};

/* Takes the n bytes of an option, "--dir=FWD_B". 1: it is not one of these; -1: its value is too
 * long, and the option has none now. */
int benchdnn_options_read(struct benchdnn_options *o, const char *s, size_t n);
/* The option's value, or "". */
const char *benchdnn_value(const struct benchdnn_options *o, enum benchdnn_option i);
void benchdnn_options_reset(struct benchdnn_options *o);
void benchdnn_options_free(struct benchdnn_options *o);

/* One value of each list. A zeroed struct is at the first combination. */
struct benchdnn_choice {
	int at[BENCHDNN_LISTS];
	struct buf value[BENCHDNN_LISTS];
};

void benchdnn_choose(const struct benchdnn_options *o, struct benchdnn_choice *c);
/* Goes to the next combination; 0: there is none. */
int benchdnn_next(const struct benchdnn_options *o, struct benchdnn_choice *c);
/* Is an option's value this word? Case does not matter. */
int benchdnn_says(const struct benchdnn_choice *c, enum benchdnn_option o, const char *word);
void benchdnn_choice_free(struct benchdnn_choice *c);

#endif
