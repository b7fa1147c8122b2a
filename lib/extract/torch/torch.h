/* Programs of torch.export: the JSON in a .pt2 archive (PyTorch, torch/_export/serde/schema.py).
 *
 * The file tells the shape of each tensor, as numbers or as expressions of symbols; when the
 * symbols have their sizes, no shape is left to infer. The nodes of the operators keep what the
 * fusing and the workloads need: types, windows, groups.
 */
#ifndef TL_EXTRACT_TORCH_TORCH_H
#define TL_EXTRACT_TORCH_TORCH_H

#include "lib/extract/call/call.h"
#include "lib/extract/graph/infer.h"

enum { TORCH_OPSET = 18 }; /* of ONNX, whose rules hold for what operators become */

/* The graph of a program; symbols get their sizes from the options, which are marked as used. It is
 * linked. */
int torch_read(struct graph *g, const struct json_doc *d, const struct infer_options *o,
	       struct err *e);

/* A call of an operator. Its type is such as "conv2d": without the overload. */
struct torch_call {
	struct arena *a;
	const struct json_doc *doc;
	const struct map *tensor;  /* name -> index of the value + 1 */
	const struct json *inputs; /* list of arguments; in: all tensors among them */
};

/* Returns the index of x in {"name": "x"}, {"as_tensor": {"name": "x"}}; -1: it names no tensor. */
int torch_index(const struct torch_call *c, const struct json *v);
/* Find an argument by its name, and the value of one that is a tensor (arguments.c). */
const struct json *torch_argument(const struct call *c, const char *name);
int torch_input(const struct call *c, const char *name);
/* The tensors of an argument: one, or a list. Returns how many; in is the arena's. */
int torch_tensors(const struct call *c, const char *name, int **in);

/* Adds the nodes that it becomes (operators.c). */
void torch_convert(const struct call *c);

call_fn torch_conv, torch_pool;			      /* windows.c */
call_fn torch_linear, torch_product, torch_attention; /* products.c */
call_fn torch_recurrent, torch_cell;		      /* recurrent.c */

#endif
