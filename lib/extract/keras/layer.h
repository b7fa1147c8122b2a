/* Layers of Keras as calls. Functions return the value that is made; those of rows give it to the
 * call (layer_made()).
 */
#ifndef TL_EXTRACT_KERAS_LAYER_H
#define TL_EXTRACT_KERAS_LAYER_H

#include "lib/extract/keras/keras.h"

/* Returns a value of the configuration. */
const struct json *layer_get(const struct call *l, const char *key);
static inline const struct keras_layer *layer_of(const struct call *l)
{
	return l->at;
}

/* The call makes this value. Returns 0. */
static inline int layer_made(const struct call *l, int value)
{
	l->out[0] = value;
	return 0;
}

/* Makes a value with the layer's name, as call_make() does. */
int layer_fresh(const struct call *l);
/* The layer's next result behind the first. */
void layer_more(const struct call *l, int value);
/* A constant "LAYER/WHAT"; size: of a list, or 0. */
int layer_parameter(const struct call *l, const char *what, int64_t size);

/* The name of the layer's activation, and the nodes of one. */
const char *layer_activation(const struct call *l);
int layer_activate(const struct call *l, int in, const char *what);
int layer_softmax(const struct call *l, int in);

call_fn layer_activation_layer, layer_relu; /* layer.c */
call_fn layer_conv, layer_depthwise, layer_separable, layer_pool, layer_global_pool, layer_pad,
	layer_crop, layer_upsample, layer_resize; /* layer_window.c */
call_fn layer_dense, layer_einsum_dense, layer_dot, layer_attention, layer_additive_attention,
	layer_dot_attention, layer_recurrent, layer_bidirectional, layer_time_distributed,
	layer_scaled, layer_weighs; /* layer_matrix.c */

#endif
