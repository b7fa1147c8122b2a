#include "lib/extract/list/benchdnn_options.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "lib/base/words.h"

/* Drivers that multiply come first. */
static const char *const drivers[] = {"",	"conv",	     "matmul",	   "ip",      "deconv",
				      "rnn",	"brgemm",    "sdpa",	   "graph",   "bnorm",
				      "lnorm",	"gnorm",     "pool",	   "softmax", "eltwise",
				      "binary", "reorder",   "sum",	   "concat",  "shuffle",
				      "lrn",	"reduction", "resampling", "prelu",   "zeropad"};
enum { DRIVERS = sizeof drivers / sizeof *drivers, SDPA = 7 };

int benchdnn_driver(const char *name, size_t n)
{
	for (int i = BENCHDNN_NONE + 1; i < DRIVERS; i++)
		if (strlen(drivers[i]) == n && !memcmp(drivers[i], name, n))
			return i;
	return BENCHDNN_NONE;
}

const char *benchdnn_driver_name(int driver)
{
	return drivers[driver];
}

int benchdnn_driver_multiplies(int driver)
{
	return driver > BENCHDNN_NONE && driver <= SDPA;
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

enum { VALUE_MAX_BYTES = 4000 };

/* They stand in the order of their numbers. */
static const char *const options[BENCHDNN_OPTIONS] = {"--dir=",
						      "--dt= --cfg=",
						      "--stag=",
						      "--wtag=",
						      "--bia_dt= --bia-dt=",
						      "--bia_mask= --bia-mask=",
						      "--mb=",
						      "--attr-post-ops=",
						      "--grouped=",
						      "--encoding=",
						      "--match="};

int benchdnn_options_read(struct benchdnn_options *o, const char *s, size_t n)
{
	const char *equals = memchr(s, '=', n);

	for (int i = 0; equals && i < BENCHDNN_OPTIONS; i++) {
		size_t k = (size_t)(equals - s) + 1;
		struct buf *value = &o->value[i];

		if (!words_have(options[i], s, k))
			continue;
		while (n > k && s[n - 1] == ',') /* no value follows it */
			n--;
		if (n > k + 1 && strchr("\"'", s[k]) && s[n - 1] == s[k])
			k++, n--;
		buf_clear(value);
		if (n > k + VALUE_MAX_BYTES && i != BENCHDNN_GROUPED)
			return -1;
		if (n > k)
			buf_add(value, s + k, n - k);
		return 0;
	}
	return 1;
}

const char *benchdnn_value(const struct benchdnn_options *o, enum benchdnn_option i)
{
	return o->value[i].n ? o->value[i].s : "";
}

void benchdnn_options_reset(struct benchdnn_options *o)
{
	for (int i = 0; i < BENCHDNN_OPTIONS; i++)
		buf_clear(&o->value[i]);
}

void benchdnn_options_free(struct benchdnn_options *o)
{
	for (int i = 0; i < BENCHDNN_OPTIONS; i++)
		buf_free(&o->value[i]);
}

static int count_values(const struct buf *list)
{
	int n = 1;

	for (size_t i = 0; i < list->n; i++)
		n += list->s[i] == ',';
	return n;
}

void benchdnn_choose(const struct benchdnn_options *o, struct benchdnn_choice *c)
{
	for (int i = 0; i < BENCHDNN_LISTS; i++) {
		const char *s = benchdnn_value(o, i);

		for (int k = 0; k < c->at[i]; k++)
			s = strchr(s, ',') + 1;
		buf_clear(&c->value[i]);
		buf_add(&c->value[i], s, strcspn(s, ","));
	}
}

int benchdnn_next(const struct benchdnn_options *o, struct benchdnn_choice *c)
{
	for (int i = BENCHDNN_LISTS; i-- > 0;) {
		if (++c->at[i] < count_values(&o->value[i]))
			return 1;
		c->at[i] = 0;
	}
	return 0;
}

int benchdnn_says(const struct benchdnn_choice *c, enum benchdnn_option o, const char *word)
{
	return !strcasecmp(c->value[o].s, word);
}

void benchdnn_choice_free(struct benchdnn_choice *c)
{
	for (int i = 0; i < BENCHDNN_LISTS; i++)
		buf_free(&c->value[i]);
}
