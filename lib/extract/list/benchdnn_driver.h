/* The drivers of benchdnn, each of which tests an operator of oneDNN's. */
#ifndef TL_EXTRACT_LIST_BENCHDNN_DRIVER_H
#define TL_EXTRACT_LIST_BENCHDNN_DRIVER_H

#include <stddef.h>

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

#endif
