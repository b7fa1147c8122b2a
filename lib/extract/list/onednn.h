/* The notation of oneDNN, which its verbose mode and benchdnn share: problems, and post-ops, which
 * verbose lines call eltwise_relu and binary_mul, and benchdnn relu and mul. */
#ifndef TL_EXTRACT_LIST_ONEDNN_H
#define TL_EXTRACT_LIST_ONEDNN_H

#include "lib/op/op.h"

enum { ONEDNN_RANK = 12 };

/* The shape of an output as oneDNN has it: masks of its dimensions are about that. */
struct onednn_shape {
	int rank;
	int64_t dim[ONEDNN_RANK];
};

/* A matrix product, MxK:KxN:MxN with any number of batch dimensions, or b2m3n4k5 as versions 1.x
 * have it, as ours: MxK:KxN or BxMxK:BxKxN. -1: it is none. */
int onednn_matmul(const char *text, struct buf *out, struct onednn_shape *shape);
/* mb1ic512ih7iw7oc4096 is a product of 1x25088 and 25088x4096. */
int onednn_inner_product(const char *text, struct buf *out, struct onednn_shape *shape);
/* A convolution's text, "mb1_ic3oc64_iw224ow112kw7..", with a height of 1 where it has none.
 * Returns the operator's name. */
const char *onednn_conv(const char *text, struct buf *out);
/* The multiply-adds of a convolution's text, or of a deconvolution's, of any dimensions; -1: the
 * text has no sizes, or absurd ones. */
int64_t onednn_conv_macs(const char *text, int is_transposed);
struct onednn_shape onednn_conv_shape(const struct workload *w);
/* Has a bias with this mask one value for each column? */
int onednn_is_row(long mask, const struct onednn_shape *s);
/* The post-ops of a list that ends with a space, as far as they are ours; what follows another one
 * is left out. */
void onednn_posts_read(const char *list, const struct onednn_shape *s, struct workload *w);
/* All but bias, in benchdnn's words, joined by '+'. */
void onednn_posts_print(const struct workload *w, struct buf *out);

#endif
