#include "lib/extract/list/benchdnn_driver.h"

#include <ctype.h>
#include <string.h>

static const struct {
	const char *name;
	int multiplies;
} drivers[] = {[BENCHDNN_NONE] = {"", 0},
	       [BENCHDNN_CONV] = {"conv", 1},
	       [BENCHDNN_MATMUL] = {"matmul", 1},
	       [BENCHDNN_IP] = {"ip", 1},
	       [BENCHDNN_OTHER] = {"deconv", 1},
	       {"rnn", 1},
	       {"brgemm", 1},
	       {"sdpa", 1},
	       {"graph", 0},
	       {"bnorm", 0},
	       {"lnorm", 0},
	       {"gnorm", 0},
	       {"pool", 0},
	       {"softmax", 0},
	       {"eltwise", 0},
	       {"binary", 0},
	       {"reorder", 0},
	       {"sum", 0},
	       {"concat", 0},
	       {"shuffle", 0},
	       {"lrn", 0},
	       {"reduction", 0},
	       {"resampling", 0},
	       {"prelu", 0},
	       {"zeropad", 0}};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

int benchdnn_driver(const char *name, size_t n)
{
	for (int i = BENCHDNN_NONE + 1; i < DRIVERS; i++)
		if (strlen(drivers[i].name) == n && !memcmp(drivers[i].name, name, n))
			return i;
	return BENCHDNN_NONE;
}

const char *benchdnn_driver_name(int driver)
{
	return drivers[driver].name;
}

int benchdnn_driver_multiplies(int driver)
{
	return drivers[driver].multiplies;
}

/* The name that ends at path + n; *from becomes where it begins. */
static size_t part_before(const char *path, size_t n, size_t *from)
{
	for (*from = n; *from && path[*from - 1] != '/';)
		--*from;
	return n - *from;
}

int benchdnn_driver_of_path(const char *path)
{
	static const char around[] = "inputs";
	size_t file, folder, inputs, n;

	part_before(path, strlen(path), &file);
	n = file ? part_before(path, file - 1, &folder) : 0;
	if (!n || !folder || part_before(path, folder - 1, &inputs) != strlen(around) ||
	    memcmp(path + inputs, around, strlen(around)) != 0)
		return BENCHDNN_NONE;
	return benchdnn_driver(path + folder, n);
}

int benchdnn_driver_of_problem(const char *problem)
{
	if (isdigit((unsigned char)*problem))
		return BENCHDNN_MATMUL;
	for (const char *s = problem; *s && *s != 'n'; s++)
		if (*s == 'k')
			return BENCHDNN_CONV; /* an inner product has no kernel */
	return BENCHDNN_IP;
}
