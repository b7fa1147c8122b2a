/* ONNX's RoiAlign and MaxRoiPool make images of one size of regions of images. RoiAlign is that of
 * He et al., "Mask R-CNN" (ICCV 2017), section 3; MaxRoiPool of Girshick, "Fast R-CNN" (ICCV 2015),
 * section 2.1. */
#ifndef TL_RUN_REGIONS_H
#define TL_RUN_REGIONS_H

#include <stdint.h>

enum { REGIONS_IMAGES, REGIONS_BOXES, REGIONS_BATCH, REGIONS_TO, REGIONS_OPERANDS };

/* Images have their channels last, so many floats from pixel to pixel. The result is regions x
 * channels x out[0] x out[1], dense. */
struct regions {
	int64_t images, channels, size[2], pixel, regions, out[2];
	int64_t samples; /* along each side of a cell; 0: as many as pixels */
	float scale;
	int is_max;  /* the largest part of a sample counts, as in onnxruntime */
	int is_half; /* the centre of a pixel lies half a pixel from its corner */
};

/* The part of thread `thread` of `threads` of a struct regions. A box is x, y of two corners. -1:
 * one is of no image, has NaN or infinity, or lies too far away. */
int regions_align(const void *with, float *const *buffers, int thread, int threads);
/* The same with boxes that have the number of their image first; REGIONS_BATCH is left out. */
int regions_pool(const void *with, float *const *buffers, int thread, int threads);

#endif
