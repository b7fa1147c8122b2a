/* Sizes of dimensions as torch.export writes them: numbers, or expressions of symbols, such as
 * Mul(Integer(4), Symbol('s77', positive=True, integer=True)) or, from older versions, 4*s0.
 */
#ifndef TL_EXTRACT_TORCH_SIZES_H
#define TL_EXTRACT_TORCH_SIZES_H

#include <stdint.h>

#include "lib/base/map.h"
#include "lib/io/json.h"

struct sizes {
	struct map symbol; /* name -> int64_t *, the size that it has */
};

/* The symbol that an expression consists of, in name; 0: it is not a symbol alone. */
int sizes_symbol(const char *expression, char *name, size_t room);
/* The value of an expression; 0: it is not known. */
int64_t sizes_evaluate(const struct sizes *s, const char *expression);

#endif
