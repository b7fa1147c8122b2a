/* Symbols of open dimensions, as exporters write them: a name, such as "batch", or an expression of
 * names, such as "2*seq + 1" or "floor(seq/2 - 1/2) + 1".
 *
 * An expression has numbers, names, + - * / // % **, parentheses, and the functions floor, ceiling,
 * ceil, FloorDiv, CleanDiv, Mod, Min, Max, Add, Mul, Pow and PowByNatural (case does not matter);
 * "/" divides in real numbers. Integer(4) and Symbol('seq', positive=True) are a number and a name,
 * as SymPy tells them. A size is what comes out as a whole number of 0 or more.
 */
#ifndef TL_EXTRACT_GRAPH_SYMBOL_H
#define TL_EXTRACT_GRAPH_SYMBOL_H

#include <stdint.h>

#include "lib/base/map.h"

/* Does the name say that the dimension is the batch: "batch", "batch_size", "BatchSize", "N"? */
int symbol_is_batch(const char *text);
/* The size of a symbol, given those of names (int64_t *) in bound. 0, or -1: it is not known. */
int symbol_size(const char *text, const struct map *bound, int64_t *size);
/* Calls f with each name in an expression. */
void symbol_names(const char *text, void (*f)(void *ctx, const char *name, size_t len), void *ctx);

#endif
