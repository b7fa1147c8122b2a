#include "lib/run/place.h"

#include <string.h>

void order_channels_last(int rank, int order[PLACE_RANK])
{
	for (int i = 0; i < rank; i++)
		order[i] = i == 0 ? 0 : i == rank - 1 ? 1 : i + 1;
	if (rank == 1)
		order[0] = 0;
}

int64_t place_count(const struct place *p)
{
	int64_t n = 1;

	for (int i = 0; i < p->rank; i++)
		n *= p->dim[i];
	return n;
}

int64_t place_span(const struct place *p)
{
	int64_t n = 1;

	for (int i = 0; i < p->rank; i++)
		n += p->dim[i] ? (p->dim[i] - 1) * p->stride[i] : 0;
	return n;
}

void place_dense(struct place *p, int rank, const int64_t *dim, const int *order)
{
	int64_t step = 1;

	p->rank = rank;
	if (rank)
		memmove(p->dim, dim, sizeof *dim * (size_t)rank);
	for (int k = rank; k-- > 0;) {
		int i = order ? order[k] : k;

		p->stride[i] = step;
		step *= p->dim[i];
	}
}

int place_is_dense(const struct place *p, const int *order)
{
	int64_t step = 1;

	for (int k = p->rank; k-- > 0;) {
		int i = order ? order[k] : k;

		if (p->dim[i] != 1 && p->stride[i] != step)
			return 0;
		step *= p->dim[i];
	}
	return 1;
}

int64_t place_pitch(const struct place *p, const int *order)
{
	const int last = p->rank - 1, inner = order ? order[last] : last;
	int64_t pitch = 0, step = 0;

	if (p->dim[inner] != 1 && p->stride[inner] != 1)
		return 0;
	for (int k = last; k-- > 0;) {
		const int i = order ? order[k] : k;

		if (p->dim[i] == 1)
			continue;
		if (!pitch)
			pitch = step = p->stride[i];
		if (p->stride[i] != step)
			return 0;
		step *= p->dim[i];
	}
	return !pitch || pitch >= p->dim[inner] ? pitch : 0;
}

static int64_t sort_key(const struct place *p, int i)
{
	return p->dim[i] == 1 || !p->stride[i] ? INT64_MAX : p->stride[i];
}

void place_order(const struct place *p, int order[PLACE_RANK])
{
	for (int i = 0; i < p->rank; i++) {
		int k = i;

		for (; k > 0 && sort_key(p, order[k - 1]) < sort_key(p, i); k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
}

/* Runs of dimensions that lie in each other without gaps are one; a new dimension must divide what
 * is left of such a run. */
int place_reshape(const struct place *p, int rank, const int64_t *dim, struct place *out)
{
	struct place r = {.memory = p->memory, .at = p->at, .elem = p->elem, .rank = rank};
	int i = p->rank - 1;
	int64_t left = 1, step = 1; /* of the run: elements not yet given out, and their stride */

	if (!place_count(p)) { /* nothing lies anywhere */
		place_dense(&r, rank, dim, NULL);
		*out = r;
		return 1;
	}
	for (int k = rank; k-- > 0;) {
		r.dim[k] = dim[k];
		r.stride[k] = 0;
		if (dim[k] == 1)
			continue;
		if (left == 1) {
			while (i >= 0 && p->dim[i] == 1)
				i--;
			if (i < 0)
				return 0;
			step = p->stride[i];
			left = p->dim[i--];
		}
		while (left % dim[k]) {
			while (i >= 0 && p->dim[i] == 1)
				i--;
			if (i < 0 || p->stride[i] != step * left)
				return 0;
			left *= p->dim[i--];
		}
		r.stride[k] = step;
		step *= dim[k];
		left /= dim[k];
	}
	*out = r;
	return left == 1;
}

/* The end of the group of p's dimensions that begins with dimension `first`, which the reshape
 * takes to a group of its own. *k: where that one begins, then where it ends. */
static int group_end(const struct place *p, int first, int rank, const int64_t *dim, int *k)
{
	int64_t from = p->dim[first], to = 1;
	int end = first + 1;

	while (from != to && (end < p->rank || *k < rank)) {
		if (from < to && end < p->rank)
			from *= p->dim[end++];
		else if (*k < rank)
			to *= dim[(*k)++];
		else
			break;
	}
	return end;
}

/* The stride of the group's innermost dimension. */
static int64_t group_stride(const struct place *p, int first, int end)
{
	while (end > first + 1 && sort_key(p, end - 1) == INT64_MAX)
		end--;
	return sort_key(p, end - 1);
}

void place_reshape_order(const struct place *p, int rank, const int64_t *dim, int order[PLACE_RANK])
{
	int begin[PLACE_RANK + 1], n = 0, k = 0, at = 0;
	int64_t stride[PLACE_RANK];

	for (int first = 0; first < p->rank; n++) {
		begin[n] = first;
		first = group_end(p, first, rank, dim, &k);
		stride[n] = group_stride(p, begin[n], first);
		begin[n + 1] = first;
	}
	while (at < p->rank) {
		int next = 0;

		for (int g = 1; g < n; g++)
			if (stride[g] > stride[next])
				next = g;
		stride[next] = -1;
		for (int i = begin[next]; i < begin[next + 1]; i++)
			order[at++] = i;
	}
}

int place_broadcast(const struct place *p, int rank, const int64_t *dim, struct place *out)
{
	struct place r = {.memory = p->memory, .at = p->at, .elem = p->elem, .rank = rank};

	if (p->rank > rank)
		return -1;
	for (int i = 0; i < rank; i++) {
		int from = i - (rank - p->rank);

		r.dim[i] = dim[i];
		r.stride[i] = from < 0 || p->dim[from] == 1 ? 0 : p->stride[from];
		if (from >= 0 && p->dim[from] != 1 && p->dim[from] != dim[i])
			return -1;
	}
	*out = r;
	return 0;
}

int place_repeats(const struct place *p)
{
	for (int i = 0; i < p->rank; i++)
		if (p->dim[i] > 1 && !p->stride[i])
			return 1;
	return 0;
}

int place_same_shape(const struct place *a, const struct place *b)
{
	return a->rank == b->rank && !memcmp(a->dim, b->dim, sizeof a->dim[0] * (size_t)a->rank);
}

int place_is(const struct place *a, const struct place *b)
{
	return a->memory == b->memory && a->at == b->at && place_same_shape(a, b) &&
	       !memcmp(a->stride, b->stride, sizeof a->stride[0] * (size_t)a->rank);
}
