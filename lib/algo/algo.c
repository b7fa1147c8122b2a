#include "lib/algo/algo.h"

#include <string.h>

#include "lib/base/nearest.h"
#include "lib/io/field.h"
#include "lib/space/strict.h"

void algo_names(struct buf *out)
{
	for (const struct algo *const *a = algo_list; *a; a++)
		buf_fmt(out, "%s%s", a == algo_list ? "" : "|", (*a)->name);
}

void algo_put(const struct algo *a, const int64_t *knob, struct buf *out)
{
	field_text(out, "algo", a->name);
	field_object(out, "knobs");
	for (int i = 0; i < a->nknobs; i++)
		if (!a->knob[i].is_rare || knob[i] != a->knob[i].frozen)
			field_integer(out, a->knob[i].name, knob[i]);
	buf_ch(out, '}');
}

const struct algo *algo_find(const char *name, size_t n)
{
	for (const struct algo *const *a = algo_list; *a; a++)
		if (strlen((*a)->name) == n && !memcmp((*a)->name, name, n))
			return *a;
	return NULL;
}

const char *algo_hint(const char *name, size_t n)
{
	struct nearest near;

	nearest_begin(&near, name, n);
	for (const struct algo *const *a = algo_list; *a; a++)
		nearest_try(&near, (*a)->name);
	return nearest_hint(&near);
}

/* Scales of reals are folded into weights by whoever has any. What lies outside of an image is 0
 * but for algorithms that compute whole numbers as narrow ones. */
static int takes(const struct algo *a, const struct workload *w)
{
	const struct dtypes *d = &w->dtype;

	const int has_scales = workload_has_post(w, POST_SCALE) || workload_has_post(w, POST_SHIFT);
	const int fills = workload_has_post(w, POST_PAD);

	if (workload_group(w) || a->dequantizes)
		return workload_group(w) && a->dequantizes && d->src == DTYPE_F32 &&
		       (d->wei == DTYPE_U4 || d->wei == DTYPE_U8) && d->dst == DTYPE_F32;
	if (((has_scales || fills) && !dtype_is_int(d->src)) || (fills && !a->narrows))
		return 0;
	return dtypes_are_f32(d) || (a->types & 1U << d->src &&
				     (dtypes_are_one_real(d) ||
				      (a->narrows ? dtypes_are_bytes(d) : dtypes_are_whole(d)) ||
				      (a->widens && dtypes_widen(d))));
}

int algo_space(const struct algo *a, const struct workload *w, const struct limits *m,
	       struct knob_space *s)
{
	return algo_is_allowed(a) && takes(a, w) && range_space(a->ranges, a->nknobs, w, m, s);
}

int algo_is_allowed(const struct algo *a)
{
	return !a->halves || !strict_is();
}

int algo_valid(const struct algo *a, const struct workload *w, const int64_t *knob,
	       const char **why)
{
	if (!takes(a, w)) {
		*why = a->dequantizes ? "it computes in single precision by weights in groups only"
		       : workload_group(w) ? "it computes by no weights in groups"
		       : !a->types	   ? "it computes in single precision only"
		       : a->narrows ? "it computes in single precision, in bf16 and in 8 bits only"
		       : a->types == 1U << DTYPE_BF16
			       ? "it computes in single precision and in bf16 only"
			       : "it does not compute in these types";
		return 0;
	}
	return range_valid(a->ranges, w, knob, why);
}

int algo_suits(const struct algo *a, const struct target *t)
{
	return !(a->needs & ~t->can);
}
