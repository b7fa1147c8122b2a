#include "lib/run/windows.h"

#include <math.h>

/* The window as far as it is known. */
struct sum {
	double all;
	float most;
	int64_t at;	/* of the maximum, in the volume; -1: there is none yet */
	int64_t inside; /* elements in the image */
	int64_t padded; /* and in the image or its padding */
};

static int64_t count(const int64_t *d, int rank)
{
	int64_t n = 1;

	for (int i = 0; i < rank; i++)
		n *= d[i];
	return n;
}

/* Index `i` of a box as one of each dimension. */
static void unfold(int64_t i, const int64_t *dim, int rank, int64_t *index)
{
	for (int d = rank; d-- > 0;) {
		index[d] = i % dim[d];
		i /= dim[d];
	}
}

/* Where a tap of the window at `out` lies in the volume. -1: in the padding; -2: beyond it. */
static int64_t reach(const struct windows *w, const int64_t *out, const int64_t *tap)
{
	int64_t at = 0, outside = 0;

	for (int d = 0; d < w->rank; d++) {
		const int64_t x = out[d] * w->stride[d] - w->before[d] + tap[d] * w->dilation[d];

		if (x >= w->in[d] + w->after[d])
			return -2;
		outside |= x < 0 || x >= w->in[d];
		at = at * w->in[d] + x;
	}
	return outside ? -1 : at;
}

static void take(const struct windows *w, struct sum *s, float x, int64_t at)
{
	s->inside++;
	if (w->kind == WINDOWS_MEAN)
		s->all += (double)x;
	else if (w->kind == WINDOWS_NORM)
		s->all += pow(fabs((double)x), w->p);
	else if (s->at < 0 || x > s->most || (isnan(x) && !isnan(s->most))) {
		s->most = x;
		s->at = at;
	}
}

/* The number of element `at` of a volume if its first dimension runs fastest. */
static int64_t column_major(const struct windows *w, int64_t at)
{
	int64_t index[WINDOWS_RANK], n = 0;

	unfold(at, w->in, w->rank, index);
	for (int d = w->rank; d-- > 0;)
		n = n * w->in[d] + index[d];
	return n;
}

static float result(const struct windows *w, const struct sum *s, int64_t first)
{
	switch (w->kind) {
	case WINDOWS_MAX:
		return s->at < 0 ? -INFINITY : s->most;
	case WINDOWS_PLACE:
		return (float)(first + (w->is_column_major ? column_major(w, s->at) : s->at));
	case WINDOWS_MEAN:
		return (float)(s->all / (double)(w->counts_padding ? s->padded : s->inside));
	default:
		return (float)pow(s->all, 1 / w->p);
	}
}

int windows_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct windows *w = with;
	const int64_t each = count(w->out, w->rank), size = count(w->in, w->rank);
	const int64_t taps = count(w->kernel, w->rank), all = w->images * each;

	for (int64_t i = all * thread / threads; i < all * (thread + 1) / threads; i++) {
		const int64_t first = i / each * size;
		int64_t out[WINDOWS_RANK], tap[WINDOWS_RANK];
		struct sum s = {.at = -1};

		unfold(i % each, w->out, w->rank, out);
		for (int64_t k = 0; k < taps; k++) {
			int64_t at;

			unfold(k, w->kernel, w->rank, tap);
			at = reach(w, out, tap);
			s.padded += at >= -1;
			if (at >= 0)
				take(w, &s, buffers[0][first + at], at);
		}
		buffers[1][i] = result(w, &s, first);
	}
	return 0;
}
