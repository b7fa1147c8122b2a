/* How far scores of classes are from the right ones: ONNX's NegativeLogLikelihoodLoss and
 * SoftmaxCrossEntropyLoss. */
#ifndef TL_RUN_LOSS_H
#define TL_RUN_LOSS_H

#include <stdint.h>

enum loss_reduction { LOSS_NONE, LOSS_SUM, LOSS_MEAN, LOSS_REDUCTIONS };

/* Scores: batches x classes x inner; labels: batches x inner; weights: classes, or none. */
struct loss {
	int64_t batches, classes, inner;
	enum loss_reduction reduction;
	int is_softmax; /* scores are made logarithms of probabilities first */
	int ignores;	/* a label does not count: */
	int64_t ignored;
};

/* The part of thread `thread` of `threads` of a struct loss. Buffers: scores, labels, weights
 * (NULL: all 1), result: one number for each label, or one. -1: a label is none of the classes. */
int loss_run(const void *with, float *const *buffers, int thread, int threads);

#endif
