/* What the parts of the reader of TFLite models share. */
#ifndef TL_EXTRACT_TFLITE_READER_H
#define TL_EXTRACT_TFLITE_READER_H

#include "lib/extract/read/kept.h"
#include "lib/extract/tflite/rewrite.h"

enum { TFLITE_DEEPEST = 8 }; /* graphs within graphs */

/* Fields of a Buffer, and of the Model that holds the list of them. */
enum { BUFFER_DATA = 0, MODEL_BUFFERS = 4 };

struct reader {
	struct build b;
	struct flat f;
	uint64_t model;
	struct flat_list codes, buffers, graphs;
	unsigned char *is_read, *is_searched; /* of the graphs */
	const char **type;		      /* of each operator code */
	int *value;			      /* of the graph at hand, for each tensor */
	struct declared **declared;
	int ntensor, depth;
	int assigns;   /* a graph that runs each time, maybe one inside, changes variables */
	int64_t kept;  /* elements of constants */
	int64_t links; /* inputs and outputs of operators, and tensors, so far */
};

/* Keeps all of a model but the elements of large tensors (load.c). */
int load_model(struct kept *k, struct err *e);
/* Fills the graph at hand with that one of the file. */
int tflite_graph(struct reader *r, uint32_t which, struct err *e);
/* An operator with n graphs, whose numbers are options: what it and they are called in a graph. */
struct tflite_inner {
	const char *type, *onnx;
	int n;
	const char *graph[2];
	int option[2];
};
const struct tflite_inner *tflite_has_graphs(const char *type); /* NULL: it has none */
/* Adds it, with its graphs. */
int tflite_inner(struct reader *r, const struct call *o, const struct tflite_inner *row,
		 struct err *e);
/* READ_VARIABLE: what is read is a constant, unless the graph changes it. */
void tflite_variable(struct reader *r, const struct call *o);

#endif
