/* Operators of TFLite as calls. An attribute is a field of the options: its name, and its number,
 * such as "axis#0".
 */
#ifndef TL_EXTRACT_TFLITE_REWRITE_H
#define TL_EXTRACT_TFLITE_REWRITE_H

#include "lib/extract/call/call.h"
#include "lib/extract/read/flat.h"

struct options {
	struct flat *flat;
	uint64_t at; /* their table; 0: none */
};

/* There are no texts. */
call_reader rewrite_option;

/* Adds the nodes that the operation becomes. */
void rewrite_operation(const struct call *c);
/* The name of a builtin operator; "an operator of a newer schema" if there is none of that number.
 */
const char *operator_name(int64_t code, struct arena *a);

/* rewrite.c: convolutions, pools, and what rearranges images */
call_fn rewrite_conv, rewrite_conv_transpose, rewrite_custom_transpose, rewrite_pool,
	rewrite_blocks;
/* products and recurrent networks */
call_fn rewrite_fully_connected, rewrite_recurrent;

#endif
