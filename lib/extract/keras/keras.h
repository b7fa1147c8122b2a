/* Keras models: the JSON that describes their layers, from a .keras archive (config.json), from an
 * HDF5 file or alone. Weights are not read: their shapes follow from the data (infer_parameters.c).
 */
#ifndef TL_EXTRACT_KERAS_KERAS_H
#define TL_EXTRACT_KERAS_KERAS_H

#include "lib/extract/call/call.h"
#include "lib/extract/graph/infer.h"
#include "lib/io/json.h"

enum { KERAS_OPSET = 13 }; /* of ONNX, whose rules hold for what layers become */

/* The graph of a model, linked. */
int keras_read(struct graph *g, const struct json_doc *d, const struct infer_options *o,
	       struct err *e);

/* What a layer makes besides its first result, in order: states, scores. */
enum { KERAS_MORE = 5 };

struct keras_more {
	int at[KERAS_MORE], n;
};

/* A layer that is called: what a call of it is at. */
struct keras_layer {
	const struct json_doc *doc;
	const struct json *config;
	double number;	  /* that the call has beside one tensor; NAN: not known */
	int number_first; /* it stands before that */
	struct keras_more *more;
};

/* A call of a layer, without inputs. */
struct call keras_call(struct build *b, const struct keras_layer *l, const char *type,
		       const char *name);
/* Adds the nodes that the layer becomes; returns the value that it makes. */
int keras_layer(const struct call *l);

#endif
