#include "lib/nest/operands.h"

#include <stddef.h>

const struct buffer *operand_buffer(const struct nest *n, int slot)
{
	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].slot == slot)
			return &n->buffer[i];
	return NULL;
}

int64_t operand_size(const struct nest *n, int slot, int threads)
{
	const struct buffer *b = operand_buffer(n, slot);

	return b->kind == BUFFER_WORK ? b->size * threads : b->size;
}
