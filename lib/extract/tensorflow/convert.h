/* Functions that make the nodes of an operator; shared by operators.c and convert_window.c. */
#ifndef TL_EXTRACT_TENSORFLOW_CONVERT_H
#define TL_EXTRACT_TENSORFLOW_CONVERT_H

#include "lib/extract/tensorflow/tensorflow.h"

/* A text; one that is not there is empty. */
const char *convert_text(const struct call *c, const char *name);

/* convert_window.c: convolutions, pools, and what rearranges and normalizes images */
call_fn convert_conv, convert_depthwise, convert_conv_transpose, convert_bias_add,
	convert_batch_norm, convert_pool, convert_blocks;

#endif
