#include "lib/extract/read/proto.h"

int proto_inside(struct wire *w, const struct wire_field *f, const struct proto *t, void *to,
		 struct err *e)
{
	if (wire_message(w, f, e) || (t->begin && t->begin(w, to, e)))
		return -1;
	return proto_read(w, f->end, t, to, e);
}

static int map(struct wire *w, const struct wire_field *f, int (*to)(int64_t), int *at,
	       struct err *e)
{
	int64_t v;
	const int r = wire_int(w, f, &v, e);

	*at = r ? 0 : to(v);
	return r;
}

static int take(struct wire *w, const struct wire_field *f, const struct proto_field *is, void *to,
		struct err *e)
{
	void *at = (char *)to + is->at;
	int *n = (void *)((char *)to + is->count);

	switch (is->kind) {
	case PROTO_TEXT:
		return wire_text(w, f, at, e);
	case PROTO_TEXTS:
		return wire_text(w, f, arena_add(w->a, at, n, is->size), e);
	case PROTO_INT:
		return wire_int(w, f, at, e);
	case PROTO_REAL:
		return wire_float(w, f, at, e);
	case PROTO_MAP:
		return map(w, f, is->map, at, e);
	case PROTO_INSIDE:
		return proto_inside(w, f, is->table, at, e);
	case PROTO_EACH:
		return proto_inside(w, f, is->table, arena_add(w->a, at, n, is->size), e);
	case PROTO_DROP:
		return wire_message(w, f, e) || wire_drop(w, f, e) ? -1 : 0;
	default:
		return is->fn(w, f, at, e);
	}
}

int proto_read(struct wire *w, uint64_t end, const struct proto *t, void *to, struct err *e)
{
	struct wire_field f;
	int r;

	while ((r = wire_field(w, end, &f, e)) > 0) {
		size_t i = 0;

		while (i < t->n && t->field[i].number != f.number)
			i++;
		if (i < t->n ? take(w, &f, &t->field[i], to, e) : wire_skip(w, &f, e))
			return -1;
	}
	return r;
}

int proto_pair(struct wire *w, const struct wire_field *f, struct proto_pair *pair, struct err *e)
{
	PROTO_TABLE(table, NULL, {1, PROTO_TEXT, PROTO_AT(proto_pair, key)},
		    {2, PROTO_TEXT, PROTO_AT(proto_pair, value)});

	*pair = (struct proto_pair){"", ""};
	return proto_inside(w, f, &table, pair, e);
}
