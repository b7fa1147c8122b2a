/* Keeps what a model has seen, which is the range of each feature in the rows that it learned from.
 *
 * Trees say of a row beyond that range what they say at its end, however far beyond it lies. So a
 * prediction there is a guess, and its deviation does not show that.
 */
#ifndef TL_MODEL_SEEN_H
#define TL_MODEL_SEEN_H

#include "lib/base/buf.h"
#include "lib/io/json.h"
#include "lib/features/features.h"

struct seen {
	int known; /* 0: the file does not say, or no row was added; then nothing lies beyond */
	double least[FEATURES], most[FEATURES]; /* NAN: the feature was always missing */
};

void seen_add(struct seen *s, const float *x);
/* Returns the feature of a row that lies furthest beyond what was seen, by more than a tenth of its
 * range; -1: none does. */
int seen_beyond(const struct seen *s, const float *x);

/* Was there a row with this value of a feature, or were there some with lower and with higher ones?
 */
int seen_within(const struct seen *s, int feature, double v);

/* Write and read the field "seen" of the model's record. */
void seen_print(const struct seen *s, struct buf *out);
void seen_read(struct seen *s, const struct json_doc *d);

#endif
