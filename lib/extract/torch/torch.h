/* Programs of torch.export: the JSON in a .pt2 archive (PyTorch, torch/_export/serde/schema.py).
 *
 * The file tells the shape of each tensor, as numbers or as expressions of symbols; when the
 * symbols have their sizes, no shape is left to infer. The nodes of the operators keep what the
 * fusing and the workloads need: types, windows, groups.
 */
#ifndef TL_EXTRACT_TORCH_TORCH_H
#define TL_EXTRACT_TORCH_TORCH_H

#include "lib/extract/build.h"
#include "lib/extract/infer.h"
#include "lib/io/json.h"

enum { TORCH_OPSET = 18 }; /* of ONNX, whose rules hold for what operators become */

/* The graph of a program; symbols get their sizes from the options, which are marked as used. It is
 * linked. */
int torch_read(struct graph *g, const struct json_doc *d, const struct infer_options *o,
	       struct err *e);

/* A call of an operator. */
struct torch_call {
	struct build *b;
	const struct json_doc *doc;
	const struct map *tensor; /* name -> index of the value + 1 */
	const char *name;	  /* of the node */
	const char *target;	  /* such as "conv2d": without overload */
	const char *overload;
	const struct json *inputs; /* list of arguments */
	int *in, nin;		   /* all tensors among them */
	int *out, nout;
};

/* Adds the nodes that it becomes. */
void torch_call(const struct torch_call *c);

#define TORCH_DOMAIN "torch" /* of nodes that are none of ONNX's */

/* A node of these inputs that makes what the call makes; one that keeps the operator's own name. */
struct graph_node *torch_node(const struct torch_call *c, const char *type, const int *in, int nin);
struct graph_node *torch_own(const struct torch_call *c);

/* What kinds of operators become; onnx: the type of the node, or what else the table says. */
typedef void torch_fn(const struct torch_call *c, const char *onnx);
torch_fn torch_conv, torch_pool, torch_adaptive_pool; /* windows.c */
torch_fn torch_linear, torch_addmm, torch_baddbmm, torch_mm, torch_einsum,
	torch_attention;	      /* products.c */
torch_fn torch_recurrent, torch_cell; /* recurrent.c */

/* Arguments by name (arguments.c). */
int torch_tensor(const struct torch_call *c, const char *name); /* -1: none */
int64_t torch_int(const struct torch_call *c, const char *name, int64_t otherwise);
double torch_real(const struct torch_call *c, const char *name, double otherwise);
int torch_flag(const struct torch_call *c, const char *name, int otherwise);
/* NULL if there is none. */
const char *torch_text(const struct torch_call *c, const char *name);
/* A list of integers; one integer stands for all `count` (0: as many as there are). Returns how
 * many; 0: there are none, or one is not a number. */
int torch_ints(const struct torch_call *c, const char *name, int count, int64_t v[GRAPH_MAX_RANK]);
/* The tensors of an argument: one, or a list. Returns how many; in is the arena's. */
int torch_tensors(const struct torch_call *c, const char *name, int **in);

#endif
