/* The notation of oneDNN, which its verbose mode (verbose.c) and benchdnn (benchdnn.h) share:
 * problems, and post-ops, which verbose lines call eltwise_relu and binary_mul, and benchdnn relu
 * and mul. What a text leaves out is filled in by benchdnn's rules, which are not those of records:
 * there a width is as the height where the text does not say it. The mask of an operand is compared
 * with the shape that oneDNN computes, before batch dimensions become rows. */
#ifndef TL_EXTRACT_LIST_ONEDNN_H
#define TL_EXTRACT_LIST_ONEDNN_H

#include "lib/op/op.h"

struct listing;

enum { ONEDNN_RANK = 12 };

/* The shape of an output as oneDNN has it: masks of its dimensions are about that. */
struct onednn_shape {
	int rank;
	int64_t dim[ONEDNN_RANK];
};

/* A matrix product, MxK:KxN:MxN with any number of batch dimensions, or b2m3n4k5 as versions 1.x
 * have it, as ours: MxK:KxN or BxMxK:BxKxN. -1: it is none. */
int onednn_matmul(const char *text, struct buf *out, struct onednn_shape *shape, struct err *e);
/* mb1ic512ih7iw7oc4096 is a product of 1x25088 and 25088x4096. mb: the batch of a text that has
 * none. A name, n"..", may end the text. */
int onednn_inner_product(const char *text, int64_t mb, struct buf *out, struct onednn_shape *shape,
			 struct err *e);
/* A convolution's text, "mb1_ic3oc64_iw224ow112kw7..", with all that it leaves out (onednn_conv.c)
 * and a height of 1 where it has none. Returns the operator's name, or NULL: it is none. */
const char *onednn_conv(const char *text, int64_t mb, struct buf *out, struct onednn_shape *shape,
			struct err *e);
/* The multiply-adds of a convolution's text, or of a deconvolution's, of any dimensions; -1: the
 * text has no sizes, or absurd ones. */
int64_t onednn_conv_macs(const char *text, int is_transposed);
/* Where the name of a problem begins, n"name"; NULL: it has none. */
const char *onednn_name(const char *problem);
/* Has a bias with this mask one value for each column? */
int onednn_is_row(long mask, const struct onednn_shape *s);
/* Gives w the post-ops of a list that ends with a space, up to the first that is not ours. Returns
 * where that begins, or the end of the list. */
const char *onednn_posts_read(const char *list, const struct onednn_shape *s, struct workload *w);
/* Tells that the post-ops of this list were left out, of count operators with such results. */
void onednn_posts_leave(struct listing *l, const char *list, const struct onednn_shape *s,
			int64_t count);
/* All but bias, in benchdnn's words, joined by '+'. */
void onednn_posts_print(const struct workload *w, struct buf *out);

#endif
