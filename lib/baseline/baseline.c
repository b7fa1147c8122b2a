#include "lib/baseline/baseline.h"

int baseline_variants(const struct baseline *b)
{
	return b->of->variants(b);
}

const char *baseline_name(const struct baseline *b, int variant)
{
	return b->of->name(b, variant);
}

const char *baseline_layout(const struct baseline *b, int variant)
{
	return b->of->layout(b, variant);
}

int baseline_run(struct baseline *b, int variant, struct err *e)
{
	return b->of->run(b, variant, e);
}

int baseline_capture(struct baseline *b, int variant, int calls)
{
	return b->of->capture ? b->of->capture(b, variant, calls) : 0;
}

int baseline_has_rows(const struct baseline *b)
{
	return b->of->row != NULL;
}

int baseline_row(struct baseline *b, int variant, int calls, struct err *e)
{
	return b->of->row(b, variant, calls, e);
}

int baseline_seconds(const struct baseline *b, double *seconds)
{
	if (!b->of->seconds)
		return 0;
	*seconds = b->of->seconds(b);
	return 1;
}

int baseline_write_to(struct baseline *b, int variant, float *dst, struct err *e)
{
	return b->of->write_to(b, variant, dst, e);
}

int baseline_output(struct baseline *b, int variant, float *dst, struct err *e)
{
	return b->of->output(b, variant, dst, e);
}

int baseline_memory(const struct baseline *b, int variant, int i, const void **data, size_t *bytes)
{
	return b->of->memory(b, variant, i, data, bytes);
}

int baseline_is_weights(const struct baseline *b, int variant, int i)
{
	return b->of->is_weights(b, variant, i);
}

void baseline_close(struct baseline *b)
{
	if (b)
		b->of->close(b);
}
