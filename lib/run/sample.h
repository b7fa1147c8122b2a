/* Images sampled at places that another tensor tells (ONNX's GridSample; Jaderberg et al., "Spatial
 * transformer networks", 2015), in plain C.
 */
#ifndef TL_RUN_SAMPLE_H
#define TL_RUN_SAMPLE_H

#include <stdint.h>

enum { SAMPLE_RANK = 3 };

enum sample_mode { SAMPLE_NEAREST, SAMPLE_LINEAR, SAMPLE_CUBIC };
enum sample_padding { SAMPLE_ZEROS, SAMPLE_BORDER, SAMPLE_REFLECTION };

/* Images: batch x channels x size[0] x .. of them. Places: batch x points x rank coordinates, the
 * last dimension's first, of which -1 and 1 are the ends. The result: batch x channels x points. */
struct sample {
	int rank;
	int64_t batch, channels, size[SAMPLE_RANK], points;
	enum sample_mode mode;
	enum sample_padding padding;
	int is_aligned; /* the ends are the middles of the outer elements, not their edges */
};

/* The part of thread `thread` of `threads` of a struct sample. Buffers: images, places, result. */
int sample_run(const void *with, float *const *buffers, int thread, int threads);

#endif
