#include "lib/run/interleave.h"

#include "lib/run/loops.h"

enum { FROM, TO };

int interleave_of(const struct place *from, const struct place *to, struct interleave *p)
{
	const struct place *const place[] = {from, to};
	const struct loops l = loops_of(place, 2);
	const int channel = l.n - 1, row = l.n - 2;

	if (elem_size(from->elem) != 1 || to->elem != from->elem || l.n < 2 || l.n > 3 ||
	    l.dim[channel] > INTERLEAVE_MOST || l.stride[TO][channel] != 1 ||
	    l.stride[FROM][row] != 1 || l.stride[TO][row] != l.dim[channel])
		return 0;
	*p = (struct interleave){.images = 1,
				 .rows = l.dim[row],
				 .channels = (int)l.dim[channel],
				 .plane = l.stride[FROM][channel]};
	if (l.n == 3) {
		p->images = l.dim[0];
		p->from_image = l.stride[FROM][0];
		p->to_image = l.stride[TO][0];
	}
	return 1;
}

/* Compilers know the number of channels, so they unroll the inner loop. */
static inline __attribute__((always_inline)) void copy(const unsigned char *from, unsigned char *to,
						       int64_t plane, int64_t first, int64_t end,
						       int channels)
{
	for (int64_t row = first; row < end; row++)
		for (int c = 0; c < channels; c++)
			to[row * channels + c] = from[c * plane + row];
}

int interleave_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct interleave *p = with;
	const int64_t first = p->rows * thread / threads, end = p->rows * (thread + 1) / threads;

	for (int64_t i = 0; i < p->images; i++) {
		const unsigned char *from =
			(const unsigned char *)buffers[FROM] + i * p->from_image;
		unsigned char *to = (unsigned char *)buffers[TO] + i * p->to_image;

		if (p->channels == 2)
			copy(from, to, p->plane, first, end, 2);
		else if (p->channels == 3)
			copy(from, to, p->plane, first, end, 3);
		else
			copy(from, to, p->plane, first, end, p->channels);
	}
	return 0;
}
