/* Writes the description of a Keras model, the attribute "model_config" of an HDF5 file, to
 * standard output.
 *
 * libhdf5 is not made for files that somebody damaged on purpose. So this is a process of its own,
 * with limits on memory, time and system calls, and no other program is linked to that library. The
 * file is the argument, or standard input. Exit status 3: standard output is a sentence that says
 * why there is nothing.
 */
#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/io/confine.h"
#include "lib/io/descriptors.h"

enum { FAILED = 3, MOST_CPU_s = 20 };

static const size_t MOST_BYTES = (size_t)1 << 30, MOST_CONFIG = (size_t)64 << 20;

static int fail(const char *why)
{
	fputs(why, stdout);
	return FAILED;
}

/* All of standard input. Ends the program if it cannot be had. */
static char *read_input(size_t *n)
{
	size_t room = 1 << 20;
	char *s = malloc(room), *more;
	ssize_t r;

	*n = 0;
	while (s && ((r = read(0, s + *n, room - *n)) > 0 || (r < 0 && errno == EINTR))) {
		*n += r > 0 ? (size_t)r : 0;
		if (*n == room) {
			if (room >= MOST_BYTES)
				exit(fail("it has more than 1 GiB, which is read from a file of "
					  "its own alone, not out of an archive or a pipe"));
			more = realloc(s, room *= 2);
			if (!more)
				exit(fail("there is no memory for it"));
			s = more;
		}
	}
	if (!s || r < 0)
		exit(fail(s ? "its bytes cannot be read" : "there is no memory for it"));
	return s;
}

static hid_t open_input(void)
{
	size_t n;
	char *s = read_input(&n);
	hid_t access = H5Pcreate(H5P_FILE_ACCESS);

	if (H5Pset_fapl_core(access, 1 << 16, 0) < 0 || H5Pset_file_image(access, s, n) < 0)
		return -1;
	free(s); /* the library has a copy */
	return H5Fopen("input", H5F_ACC_RDONLY, access);
}

/* A text of variable or of fixed length. There is room for one: of an array of them, the library
 * would write all. */
static char *read_text(hid_t attribute)
{
	hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute), memory;
	size_t size = H5Tget_size(type);
	char *text = NULL;

	if (H5Tget_class(type) != H5T_STRING || space < 0 ||
	    H5Sget_simple_extent_npoints(space) != 1 ||
	    H5Aget_storage_size(attribute) > MOST_CONFIG)
		return NULL;
	memory = H5Tcopy(H5T_C_S1);
	H5Tset_cset(memory, H5Tget_cset(type));
	if (H5Tis_variable_str(type) > 0) {
		H5Tset_size(memory, H5T_VARIABLE);
		return H5Aread(attribute, memory, &text) < 0 ? NULL : text;
	}
	text = calloc(1, size + 1);
	H5Tset_size(memory, size + 1);
	return text && H5Aread(attribute, memory, text) >= 0 ? text : NULL;
}

static void limit(void)
{
	const struct rlimit cpu = {MOST_CPU_s, MOST_CPU_s};

	setrlimit(RLIMIT_CPU, &cpu);
	setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1); /* it reads alone */
#ifndef __SANITIZE_ADDRESS__ /* which reserves terabytes, and starts a process */
	setrlimit(RLIMIT_AS, &(struct rlimit){4 * MOST_BYTES, 4 * MOST_BYTES});
	confine_kernel();
#endif
}

int main(int argc, char **argv)
{
	hid_t file, attribute;
	char *text;
	int status;

	descriptors_open();
	limit();
	H5Eset_auto(H5E_DEFAULT, NULL, NULL);
	file = argc > 1 ? H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT) : open_input();
	if (file < 0)
		return fail("it cannot be read as HDF5");
	if (H5Aexists_by_name(file, "/", "model_config", H5P_DEFAULT) <= 0)
		return fail(
			"it is an HDF5 file without the layers of a Keras model (weights alone?)");
	attribute = H5Aopen_by_name(file, "/", "model_config", H5P_DEFAULT, H5P_DEFAULT);
	text = attribute < 0 ? NULL : read_text(attribute);
	if (!text || strlen(text) > MOST_CONFIG)
		return fail("its attribute model_config cannot be read");
	status = fputs(text, stdout) < 0 || fflush(stdout) ? 1 : 0;
	free(text);
	H5Aclose(attribute);
	H5Fclose(file);
	return status;
}
