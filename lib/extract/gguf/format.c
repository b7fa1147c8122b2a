/* GGUF models. */
#include <string.h>

#include "lib/extract/extract.h"
#include "lib/extract/gguf/gguf.h"
#include "lib/extract/model.h"
#include "lib/extract/tally.h"

enum { OPSET = 18, FRAMES = 3000 /* 30 seconds, as Whisper has them */ };

static int64_t dim(const struct infer_options *o, const char *name, int64_t otherwise)
{
	int64_t size = infer_given_dim(o, name);

	return size == DIM_UNKNOWN ? otherwise : size;
}

static void tell_types(struct extract *x, const struct gguf *f, const char *label)
{
	struct tally types = {MAP_INIT};
	struct buf b = BUF_INIT;

	for (int i = 0; i < f->ntensor; i++) {
		const char *type = gguf_type_name(f->tensor[i].type);

		if (f->tensor[i].rank > 1)
			tally_add(&types, type ? type : "another type");
	}
	tally_print(&types, &b);
	if (b.n)
		extract_report(x, "%s: its matrices are %s; they count as f32", label, b.s);
	tally_free(&types);
	buf_free(&b);
}

static void tell(struct extract *x, const struct gguf *f, const struct gguf_sizes *s,
		 const char *label)
{
	const int64_t parts = gguf_number(f, "split.count", -1, 1);
	struct buf words = BUF_INIT;

	tell_types(x, f, label);
	if (strcmp(f->architecture, "clip") != 0) {
		buf_count(&words, s->seq, "word");
		extract_report(
			x,
			"%s: sequences of %s, %lld before them (--dim seq=N and --dim past=N "
			"give others)",
			label, words.s, (long long)s->past);
		buf_free(&words);
	}
	if (parts > 1)
		extract_report(x,
			       "%s: it is part %lld of %lld; the first part tells the heads of "
			       "attention, and experts",
			       label, (long long)gguf_number(f, "split.no", -1, 0) + 1,
			       (long long)parts);
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	const struct gguf_sizes s = {.batch = x->infer.batch ? x->infer.batch
							     : dim(&x->infer, "batch", 1),
				     .seq = dim(&x->infer, "seq", 1),
				     .past = dim(&x->infer, "past", 0),
				     .frames = dim(&x->infer, "frames", FRAMES)};
	struct arena a = ARENA_INIT;
	struct graph g;
	struct gguf f;
	int r;

	graph_init(&g, &a);
	r = gguf_read(&f, &m->bytes, &a, e) || gguf_network(&g, &f, &s, e) ||
			    model_extract(x, m, &g, OPSET, &f.hash, e)
		    ? -1
		    : 0;
	if (!r)
		tell(x, &f, &s, m->label);
	graph_free(&g);
	gguf_free(&f);
	arena_free(&a);
	return r;
}

const struct format format_gguf = {"gguf", "a GGUF model", {".gguf"},
				   NULL,   read,	   .is_plain = gguf_claims};
