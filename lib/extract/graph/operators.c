#include "lib/extract/graph/operators.h"

#include <stdlib.h>
#include <string.h>

const struct operator_row operator_rows[OPERATORS] = {
	[OP_NONE] = {"", ELEM_OWN, TASK_NOTHING, 0, 0},
#define OPERATOR(name, elements, inputs, shape, task)                                              \
	[OP_##name] = {#name, ELEM_##elements, TASK_##task, (inputs) % KNOWN, (inputs) >= KNOWN},
#include "lib/extract/graph/operators.def"
#undef OPERATOR
};

static int compare(const void *name, const void *row)
{
	return strcmp(name, ((const struct operator_row *)row)->name);
}

enum node_op operator_find(const char *name)
{
	const struct operator_row *row =
		bsearch(name, operator_rows + 1, OPERATORS - 1, sizeof *operator_rows, compare);

	return row ? (enum node_op)(row - operator_rows) : OP_NONE;
}
