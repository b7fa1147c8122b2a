#include "lib/ref/ref.h"

int ref_variants(const struct ref *r)
{
	return r->of->variants(r);
}

const char *ref_name(const struct ref *r, int variant)
{
	return r->of->name(r, variant);
}

const char *ref_layout(const struct ref *r, int variant)
{
	return r->of->layout(r, variant);
}

int ref_run(struct ref *r, int variant, struct err *e)
{
	return r->of->run(r, variant, e);
}

int ref_capture(struct ref *r, int variant, int calls)
{
	return r->of->capture ? r->of->capture(r, variant, calls) : 0;
}

int ref_has_rows(const struct ref *r)
{
	return r->of->row != NULL;
}

int ref_row(struct ref *r, int variant, int calls, struct err *e)
{
	return r->of->row(r, variant, calls, e);
}

int ref_seconds(const struct ref *r, double *seconds)
{
	if (!r->of->seconds)
		return 0;
	*seconds = r->of->seconds(r);
	return 1;
}

int ref_write_to(struct ref *r, int variant, float *dst, struct err *e)
{
	return r->of->write_to(r, variant, dst, e);
}

int ref_output(struct ref *r, int variant, float *dst, struct err *e)
{
	return r->of->output(r, variant, dst, e);
}

int ref_memory(const struct ref *r, int variant, int i, const void **data, size_t *bytes)
{
	return r->of->memory(r, variant, i, data, bytes);
}

int ref_is_weights(const struct ref *r, int variant, int i)
{
	return r->of->is_weights(r, variant, i);
}

void ref_close(struct ref *r)
{
	if (r)
		r->of->close(r);
}
