/* Recorded networks of every format (tests/networks/FORMAT), cut off and with bits flipped:
 * whatever happens to the bytes, the answer is a list of workloads or a sentence.
 *
 * TEST_HOSTILE=1000000 cuts each at every byte, and flips bits as often.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/extracting.h"

enum { FILES = 2, LARGEST = 4 << 20 }; /* of a format: the smallest ones, so large at the most */

struct network {
	char name[600];
	struct buf bytes;
	const struct format *format;
};

/* The first member that is of a format. 0: there is none, or it is too large. */
static int read_network(const char *file, struct network *to)
{
	struct err e = ERR_INIT;
	struct input *in = input_open(file, NULL, &e);
	struct member *m;
	const unsigned char *head;
	size_t n;

	*to = (struct network){.bytes = BUF_INIT};
	snprintf(to->name, sizeof to->name, "%s", file);
	if (!in)
		bail_out("%s", e.msg);
	while (!to->format && input_next(in, &m, &e) > 0) {
		char *dot;

		snprintf(to->name, sizeof to->name, "%s", m->name);
		dot = strrchr(to->name, '.');
		if (dot && !strcmp(dot, ".zst"))
			*dot = 0;
		if (pull_head(&m->bytes, &head, &n, &e))
			bail_out("%s: %s", file, e.msg);
		to->format = extract_recognise(to->name, head, n);
	}
	while (to->format && to->bytes.n <= LARGEST && pull_fill(&m->bytes, &e) > 0)
		if (pull_append(&m->bytes, &to->bytes, (uint64_t)(m->bytes.end - m->bytes.at), &e))
			bail_out("%s: %s", file, e.msg);
	input_close(in);
	snprintf(to->name, sizeof to->name, "%s", file);
	if (to->format && to->bytes.n <= LARGEST)
		return 1;
	buf_free(&to->bytes);
	return 0;
}

/* Keeps the smallest ones. */
static void keep(struct network *kept, int *n, struct network *new)
{
	int i;

	for (i = *n; i > 0 && kept[i - 1].bytes.n > new->bytes.n; i--) {
		if (i == FILES)
			buf_free(&kept[i - 1].bytes);
		else
			kept[i] = kept[i - 1];
	}
	if (i == FILES) {
		buf_free(&new->bytes);
		return;
	}
	kept[i] = *new;
	*n += *n < FILES;
}

static void test_format(const char *networks, size_t times)
{
	struct network kept[FILES], one;
	DIR *d = opendir(networks);
	struct dirent *f;
	int n = 0;

	if (!d)
		bail_out("%s cannot be read", networks);
	while ((f = readdir(d))) {
		char file[600];

		snprintf(file, sizeof file, "%s/%s", networks, f->d_name);
		if (f->d_name[0] != '.' && !extract_name_ends(f->d_name, ".shapes") &&
		    !extract_name_ends(f->d_name, ".py") && !extract_name_ends(f->d_name, "__") &&
		    read_network(file, &one))
			keep(kept, &n, &one);
	}
	closedir(d);
	ok(n > 0, "%s has networks small enough", networks);
	for (int i = 0; i < n; i++) {
		size_t silent = 0;

		attack(kept[i].format, &kept[i].bytes, times, times < 20000 ? (int)times : 20000,
		       &silent);
		ok(!silent, "%s, cut off and with bits flipped", kept[i].name);
		buf_free(&kept[i].bytes);
	}
}

int main(void)
{
	static const char networks[] = "tests/networks";
	const char *more = getenv("TEST_HOSTILE");
	struct rusage used;
	struct dirent *f;
	DIR *d = opendir(networks);

	if (!d)
		bail_out("%s cannot be read", networks);
	while ((f = readdir(d))) {
		char format[300];

		snprintf(format, sizeof format, "%s/%s", networks, f->d_name);
		if (f->d_name[0] != '.' && !strchr(f->d_name, '.') && f->d_name[0] != '_')
			test_format(format, more ? (size_t)atol(more) : 400);
	}
	closedir(d);
	getrusage(RUSAGE_SELF, &used);
#ifdef __SANITIZE_ADDRESS__
	skip("memory: the address sanitizer needs some of its own");
#else
	ok(used.ru_maxrss < 256 * 1024, "in %ld MB", used.ru_maxrss / 1024);
#endif
	buf_free(&said);
	return done_testing();
}
