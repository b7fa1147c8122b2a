/* Functions that make the nodes of a layer; shared by layers.c and the layer_*.c files. They return
 * the value that is made; onnx is the column of the table in layers.c.
 */
#ifndef TL_EXTRACT_KERAS_LAYER_H
#define TL_EXTRACT_KERAS_LAYER_H

#include "lib/extract/keras/keras.h"

#define KERAS_DOMAIN "keras" /* of nodes that are none of ONNX's */

typedef int layer_fn(const struct keras_layer *l, const char *onnx);

/* The configuration by its keys. layer_ints: a list, or one number for all `count`; returns how
 * many. */
const struct json *layer_get(const struct keras_layer *l, const char *key);
int64_t layer_int(const struct keras_layer *l, const char *key, int64_t otherwise);
double layer_real(const struct keras_layer *l, const char *key, double otherwise);
int layer_flag(const struct keras_layer *l, const char *key, int otherwise);
int layer_is(const struct keras_layer *l, const char *key, const char *word);
int layer_ints(const struct keras_layer *l, const char *key, int count, int64_t v[GRAPH_MAX_RANK]);

/* A new value with the layer's name; nodes with one output; what ONNX has no counterpart for. */
int layer_fresh(const struct keras_layer *l);
struct graph_node *layer_node(const struct keras_layer *l, const char *type, const int *in, int nin,
			      int out);
int layer_one(const struct keras_layer *l, const char *type, int in);
int layer_pair(const struct keras_layer *l, const char *type, int a, int b, int is_transposed);
int layer_own(const struct keras_layer *l);
int layer_leaky_relu(const struct keras_layer *l, int in, double slope);
int layer_reshape(const struct keras_layer *l, int in, const int64_t *shape, int rank);
int layer_transpose(const struct keras_layer *l, int in, const int64_t *perm, int rank);
/* The layer's next result behind the first. */
void layer_more(const struct keras_layer *l, int value);
/* A constant "LAYER/WHAT"; size: of a list, or 0. */
int layer_parameter(const struct keras_layer *l, const char *what, int64_t size);

/* The name of the layer's activation, and the nodes of one. */
const char *layer_activation(const struct keras_layer *l);
int layer_activate(const struct keras_layer *l, int in, const char *what);
int layer_softmax(const struct keras_layer *l, int in);

layer_fn layer_activation_layer, layer_relu, layer_leaky_relu_layer,
	layer_softmax_layer; /* layer.c */
layer_fn layer_conv, layer_depthwise, layer_separable, layer_pool, layer_global_pool, layer_pad,
	layer_crop, layer_center_crop, layer_upsample, layer_resize; /* layer_window.c */
layer_fn layer_dense, layer_attention, layer_dot_attention, layer_recurrent, layer_bidirectional,
	layer_time_distributed, layer_weighing; /* layer_matrix.c */

#endif
