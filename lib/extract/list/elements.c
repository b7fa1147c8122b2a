#include "lib/extract/list/elements.h"

static int begins_here(const struct elements *s)
{
	return (s->depth == 1 && s->outer[0] == '[') || (s->depth == 2 && s->outer[1] == '[');
}

static void open_level(struct elements *s, char c)
{
	if (!s->from && c == '{' && begins_here(s)) {
		s->from = s->depth + 1;
		s->drop = 0;
		buf_clear(&s->object);
	}
	if (s->depth < 2)
		s->outer[s->depth] = c;
	s->depth++;
}

/* 1: the object is whole. */
static int take_byte(struct elements *s, char c)
{
	int ends = 0;

	if (s->in_string) {
		s->in_string = s->escaped || c != '"';
		s->escaped = !s->escaped && c == '\\';
	} else if (c == '"') {
		s->in_string = 1;
	} else if (c == '{' || c == '[') {
		open_level(s, c);
	} else if ((c == '}' || c == ']') && s->depth) {
		ends = s->from == s->depth;
		s->depth--;
	}
	if (s->from && !s->drop) {
		buf_ch(&s->object, c);
		s->drop = s->object.n > ELEMENTS_LONGEST;
	}
	if (ends) {
		s->from = 0;
		s->too_long += s->drop;
	}
	return ends && !s->drop;
}

int elements_next(struct elements *s, struct pull *in, elements_seen *seen, void *ctx,
		  struct err *e)
{
	int r;

	while ((r = pull_fill(in, e)) > 0) {
		const unsigned char *from = in->at;
		int whole = 0;

		while (in->at < in->end && !whole)
			whole = take_byte(s, (char)*in->at++);
		seen(ctx, from, (size_t)(in->at - from));
		if (whole)
			return 1;
	}
	if (!r && (s->depth || s->in_string))
		return err_set(e, "it is cut off");
	return r;
}

void elements_free(struct elements *s)
{
	buf_free(&s->object);
}
