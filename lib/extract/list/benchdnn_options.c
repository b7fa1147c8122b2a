#include "lib/extract/list/benchdnn_options.h"

#include <string.h>
#include <strings.h>

enum { VALUE_MAX_BYTES = 4000 };

static const struct {
	const char *name;
	enum benchdnn_option what;
} options[] = {{"--dir=", BENCHDNN_DIR},
	       {"--dt=", BENCHDNN_DT},
	       {"--cfg=", BENCHDNN_DT},
	       {"--stag=", BENCHDNN_STAG},
	       {"--wtag=", BENCHDNN_WTAG},
	       {"--bia_dt=", BENCHDNN_BIA_DT},
	       {"--bia-dt=", BENCHDNN_BIA_DT},
	       {"--bia_mask=", BENCHDNN_BIA_MASK},
	       {"--bia-mask=", BENCHDNN_BIA_MASK},
	       {"--mb=", BENCHDNN_MB},
	       {"--attr-post-ops=", BENCHDNN_POST_OPS},
	       {"--grouped=", BENCHDNN_GROUPED},
	       {"--encoding=", BENCHDNN_ENCODING},
	       {"--match=", BENCHDNN_MATCH}};

int benchdnn_options_read(struct benchdnn_options *o, const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		size_t k = strlen(options[i].name);
		struct buf *value = &o->value[options[i].what];

		if (n < k || memcmp(s, options[i].name, k) != 0)
			continue;
		while (n > k && s[n - 1] == ',') /* no value follows it */
			n--;
		if (n > k + 1 && strchr("\"'", s[k]) && s[n - 1] == s[k])
			k++, n--;
		buf_clear(value);
		if (n > k + VALUE_MAX_BYTES && options[i].what != BENCHDNN_GROUPED)
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
