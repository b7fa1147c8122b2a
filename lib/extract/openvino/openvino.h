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
 *
 * Where a size is open, the rules hold, and need the values of constants; so elements of integers
 * are followed even where shapes are told.
 */
#ifndef TL_EXTRACT_OPENVINO_OPENVINO_H
#define TL_EXTRACT_OPENVINO_OPENVINO_H

#include "lib/extract/call/call.h"
#include "lib/extract/openvino/ir.h"

enum { OPENVINO_OPSET = 18 }; /* of ONNX, whose rules hold for what operators become */

/* NAME.bin, of which the small constants are read. */
struct ov_weights {
	const char *path; /* for messages */
	int fd;		  /* -1: there is none */
	int64_t kept;	  /* elements so far */
};

/* Fills the graph, and links it. */
int openvino_read(struct graph *g, const struct ir_net *net, struct ov_weights *w, struct err *e);

/* Adds the nodes that a layer becomes (operators.c); c->at is the layer. */
void openvino_call(const struct call *c);

/* Reads the attributes of a layer. */
call_reader openvino_attribute;

/* operators_window.c: convolutions, pools, and what pads and resizes images */
call_fn ov_conv, ov_pool, ov_pad, ov_resize;

#endif
