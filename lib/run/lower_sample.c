/* GridSample, as one step of plain C (sample.h). */
#include <string.h>

#include "lib/run/lower.h"
#include "lib/run/sample.h"

/* The number of a word, of which there are two spellings: before operator set 20, and since. */
static int find_word(const char *word, const char *const list[][2], int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(word, list[i][0]) || !strcmp(word, list[i][1]))
			return i;
	return -1;
}

int lower_sample(struct lowering *l, const struct graph_node *n, struct err *e)
{
	static const char *const modes[][2] = {
		{"nearest", "nearest"}, {"bilinear", "linear"}, {"bicubic", "cubic"}};
	static const char *const paddings[][2] = {
		{"zeros", "zeros"}, {"border", "border"}, {"reflection", "reflection"}};
	const struct shape *x = &l->g->value[n->in[0]]->shape, *at = &l->g->value[n->in[1]]->shape;
	struct sample *s = arena_new(l->p->a, struct sample);
	const int mode = find_word(node_str(n, "mode", "linear"), modes, 3);
	const int padding = find_word(node_str(n, "padding_mode", "zeros"), paddings, 3);
	struct place known;

	if (lower_shape(l, n->in[0], &known, e) || lower_shape(l, n->in[1], &known, e))
		return -1;
	s->rank = x->rank - 2;
	if (s->rank < 1 || s->rank > SAMPLE_RANK || at->rank != x->rank ||
	    at->dim[at->rank - 1] != s->rank || at->dim[0] != x->dim[0])
		return lower_bad(l, n, e, "has places that do not fit its images");
	if (mode < 0 || padding < 0)
		return lower_bad(l, n, e, "has a mode that is not known");
	s->mode = (enum sample_mode)mode;
	s->padding = (enum sample_padding)padding;
	s->is_aligned = node_int(n, "align_corners", 0) != 0;
	s->batch = x->dim[0];
	s->channels = x->dim[1];
	s->points = shape_count(at) / s->batch / s->rank;
	for (int d = 0; d < s->rank; d++)
		s->size[d] = x->dim[2 + d];
	if (shape_count(x) == 0)
		return lower_bad(l, n, e, "has images without elements");
	return lower_plain(l, n, &(struct plain){sample_run, s, NULL}, 2, 0, e);
}
