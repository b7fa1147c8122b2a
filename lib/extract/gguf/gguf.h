/* GGUF: the tensors of a model, with what the file says of its architecture; and their products.
 *
 * Format: github.com/ggml-org/ggml, docs/gguf.md, versions 1 to 3, little-endian. There is no graph
 * in the file: the names of tensors say what is multiplied, and keys how many heads and experts
 * there are. Each product is a node of its own, between inputs that nothing makes. Experts are a
 * graph inside a node, which runs as often as experts are used. Numbers and short texts are kept;
 * words of the vocabulary and the elements of tensors are passed over. All memory is the arena's;
 * gguf_free() frees the tables.
 */
#ifndef TL_EXTRACT_GGUF_GGUF_H
#define TL_EXTRACT_GGUF_GGUF_H

#include "lib/extract/graph/graph.h"
#include "lib/extract/graph/infer.h"
#include "lib/extract/read/pull.h"

enum { GGUF_RANK = 4 };

struct gguf_tensor {
	const char *name;
	int rank;
	int64_t dim[GGUF_RANK]; /* the innermost first; 1 behind the rank */
	uint32_t type;
};

struct gguf_value {
	int64_t *list; /* whole numbers: one, or those of a list */
	int n;	       /* 0: it is a text */
	const char *text;
};

struct gguf {
	struct arena *a;
	const char *architecture; /* "" if none is told */
	struct map key;		  /* struct gguf_value * */
	struct gguf_tensor *tensor;
	int ntensor;
	struct map by_name; /* place of the tensor + 1 */
	struct id hash;
};

int gguf_claims(const unsigned char *head, size_t n);
int gguf_read(struct gguf *f, struct pull *in, struct arena *a, struct err *e);
void gguf_free(struct gguf *f);
/* "Q4_K"; NULL: a type that is not known here. */
const char *gguf_type_name(uint32_t type);

/* The number of a key; of a list, that of the layer (from 0). */
int64_t gguf_number(const struct gguf *f, const char *key, int layer, int64_t otherwise);
/* The same of "ARCHITECTURE.key". */
int64_t gguf_own(const struct gguf *f, const char *key, int layer, int64_t otherwise);
const struct gguf_tensor *gguf_tensor(const struct gguf *f, const char *name); /* NULL: none */

/* The sizes that the options give. */
struct gguf_sizes {
	int64_t batch;	/* sequences, or images */
	int64_t seq;	/* words that are computed at once */
	int64_t past;	/* words before them, whose keys and values are kept */
	int64_t frames; /* of audio */
};

/* The products as a graph, linked. */
int gguf_network(struct graph *g, const struct gguf *f, const struct gguf_sizes *s, struct err *e);

#endif
