/* The tensors that the layers of a model make, as the calls of other layers refer to them: by the
 * name of the layer, the number of its call, and the number of the result.
 */
#ifndef TL_EXTRACT_KERAS_TENSORS_H
#define TL_EXTRACT_KERAS_TENSORS_H

#include "lib/base/buf.h"
#include "lib/extract/graph/build.h"
#include "lib/io/json.h"

enum { TENSORS_MOST = 4096 }; /* of a call */

struct tensor_list {
	int at[TENSORS_MOST], n;
	int missing; /* of what is referred to, something is not made yet */
	/* Numbers among the arguments: the last one, how many tensors stand before it, how many
	 * numbers there are. */
	double number;
	int number_at, numbers;
};

struct tensors {
	struct build *b;
	const struct json_doc *doc;
	struct map made; /* "call/result/layer" -> index of the value + 1 */
	struct buf key;
	int is_inner;  /* of a model that is called: the shapes that the file tells may be others */
	int64_t *work; /* counts the JSON values that are looked at; from most_work on, none is */
	int64_t most_work;
};

void tensors_free(struct tensors *t);
/* [null, 224, 224, 3] and "float32"; null is an open dimension, the first of all is the batch. */
struct declared *tensors_declare(const struct tensors *t, const struct json *shape,
				 const struct json *dtype);
/* layer: a string of JSON; NULL: the empty one. A value that is there already stays. */
void tensors_note(struct tensors *t, const struct json *layer, int64_t call, int64_t result,
		  int value);
void tensors_clear(struct tensor_list *l);
/* Adds all tensors in an argument, and notes its numbers, whatever lists and objects they stand in,
 * but for masks. */
void tensors_collect(struct tensors *t, const struct json *argument, struct tensor_list *l);

#endif
