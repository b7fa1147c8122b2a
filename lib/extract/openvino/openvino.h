/* OpenVINO IR: a network's XML into a graph.
 *
 * Operators are those of docs.openvino.ai, "Available Operation Sets". An operator becomes the one
 * of ONNX that computes the same, or several of them; one without a counterpart keeps its name. The
 * file tells the shape of every output, as far as no dimension is open. Weights lie in a second
 * file, NAME.bin: only its small constants are read, and only where the network is a file of its
 * own beside it.
 *
 * The body of a loop is a graph inside its node. It counts as often as the loop runs, if the file
 * tells that, else once.
 */
#ifndef TL_EXTRACT_OPENVINO_OPENVINO_H
#define TL_EXTRACT_OPENVINO_OPENVINO_H

#include "lib/extract/build.h"
#include "lib/extract/openvino/ir.h"

enum { OPENVINO_OPSET = 18 }; /* of ONNX, whose rules hold for what operators become */

#define OPENVINO_DOMAIN "openvino" /* of nodes that are none of ONNX's */

/* NAME.bin, of which the small constants are read. */
struct ov_weights {
	const char *path; /* for messages */
	int fd;		  /* -1: there is none */
	int64_t kept;	  /* elements so far */
};

/* Fills the graph, and links it. */
int openvino_read(struct graph *g, const struct ir_net *net, struct ov_weights *w, struct err *e);

/* The elements of a constant, if they are few, of it and of all, and the file has them
 * (constants.c). */
int openvino_keep(struct arena *a, const struct ir_layer *l, struct value *v, struct ov_weights *w,
		  struct err *e);

/* A layer as an operation. Its inputs and outputs are values of the graph; -1: left out. */
struct ov_call {
	struct build *b;
	const struct ir_layer *layer;
	int *in, nin, *out, nout;
};

/* Adds the nodes that the layer becomes (operators.c). */
void openvino_call(const struct ov_call *c);

typedef void ov_fn(const struct ov_call *c, const char *onnx);

/* operators_window.c: convolutions, pools, and what pads and resizes images */
ov_fn ov_conv, ov_conv_transpose, ov_pool, ov_pad, ov_resize, ov_blocks, ov_deformable;
/* operators_move.c: what moves elements, picks some, or makes them of sizes */
ov_fn ov_reshape, ov_concat, ov_split, ov_variadic_split, ov_strided_slice, ov_slice, ov_gather,
	ov_broadcast, ov_one_hot, ov_top_k;

/* Attributes of the layer (operators.c). */
int64_t ov_int(const struct ov_call *c, const char *name, int64_t otherwise);
int ov_flag(const struct ov_call *c, const char *name, int otherwise);
double ov_real(const struct ov_call *c, const char *name, double otherwise);
int ov_is(const struct ov_call *c, const char *name, const char *word);
/* A list of integers. Returns how many; 0: there is none, or it is none of integers, or too long.
 */
int ov_ints(const struct ov_call *c, const char *name, int64_t v[GRAPH_MAX_RANK]);
/* A node of these inputs that makes what the layer makes; and one with all of its inputs that is
 * none of ONNX's. */
struct graph_node *ov_node(const struct ov_call *c, const char *type, const int *in, int nin);
struct graph_node *ov_own(const struct ov_call *c);

static inline int ov_in(const struct ov_call *c, int i)
{
	return i < c->nin ? c->in[i] : -1;
}

#endif
