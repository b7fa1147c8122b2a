#include "lib/door/plausible.h"

#include "lib/record/status.h"
#include "lib/space/envid.h"

/* Winograd's and Strassen's algorithms do less than what is counted, and a probe may be disturbed.
 */
static const double TIMES_PEAK = 16;
static const double MOST_FLOPS = 1e16; /* a second, of any machine whose peak is not told */
static const double MOST_ERROR = 1;    /* all of the result */
static const double FAR = 100; /* times, that a ratio differs from that of the times: a wrong unit
				  is farther, no noise is */

static int number(const struct json_doc *d, const struct json *obj, const char *key, double *v)
{
	return json_num(json_get(d, obj, key), v) == 0;
}

/* Is there an interval, and v outside of it? */
static int is_outside(const struct json_doc *d, const struct json *obj, const char *key, double v)
{
	const struct json *ci = json_get(d, obj, key), *lo, *hi;
	double a, b;

	if (!ci || ci->type != JSON_ARR || ci->size != 2)
		return 0;
	lo = json_first(d, ci);
	hi = json_next(d, ci, lo);
	return json_num(lo, &a) == 0 && json_num(hi, &b) == 0 && (v < a || v > b);
}

static int check_speed(const struct json_doc *d, double latency_s, struct err *e)
{
	const struct json *env = json_get(d, d->tok, "env"), *probe = json_get(d, env, "probe");
	double flops, peak = MOST_FLOPS / TIMES_PEAK;

	if (!number(d, json_get(d, d->tok, "workload"), "flops", &flops))
		return 0;
	number(d, probe, "peak_flops_all", &peak);
	if (latency_s > 0 && flops / latency_s <= TIMES_PEAK * peak)
		return 0;
	return err_set(e,
		       "\"latency_s\" is %g, which makes %.3g operations a second: more than "
		       "%g times what its env can do",
		       latency_s, flops / latency_s, TIMES_PEAK);
}

static int check_ratio(const struct json_doc *d, double latency_s, struct err *e)
{
	const struct json *ratio = json_get(d, d->tok, "ratio"),
			  *verdict = json_get(d, d->tok, "verdict");
	double median, baseline_s;

	if (!number(d, ratio, "median", &median))
		return 0;
	if (is_outside(d, ratio, "ci", median))
		return err_set(e, "the ratio's \"median\" %g lies outside its \"ci\"", median);
	if ((json_is(verdict, "faster") && median < 1) ||
	    (json_is(verdict, "slower") && median > 1))
		return err_set(e, "\"verdict\" is %.*s, but the ratio is %g", (int)verdict->n,
			       verdict->s, median);
	if (latency_s > 0 && number(d, json_get(d, d->tok, "baseline"), "latency_s", &baseline_s) &&
	    (baseline_s / latency_s > FAR * median || baseline_s / latency_s < median / FAR))
		return err_set(e, "the ratio is %g, but the times make it %g", median,
			       baseline_s / latency_s);
	return 0;
}

int plausible_result(const struct json_doc *d, struct err *e)
{
	double latency_s = 0, error;

	if (number(d, d->tok, "latency_s", &latency_s)) {
		if (is_outside(d, d->tok, "ci_s", latency_s))
			return err_set(e, "\"latency_s\" %g lies outside \"ci_s\"", latency_s);
		if (check_speed(d, latency_s, e) < 0)
			return -1;
	}
	if (status_get(d, d->tok) == STATUS_OK &&
	    number(d, json_get(d, d->tok, "error"), "max", &error) && error > MOST_ERROR)
		return err_set(e, "\"status\" is ok, but the largest error is %g of the result",
			       error);
	return check_ratio(d, latency_s, e);
}

/* The schema refuses a value that is not an id. */
static int check_id(const char *name, const struct json *told, const struct id *id, struct err *e)
{
	if (!told || told->type != JSON_STR || told->n != ID_HEX || json_is(told, id->s))
		return 0;
	return err_set(e, "\"%s\" is %.*s, but the env's fields make it %s", name, (int)told->n,
		       told->s, id->s);
}

int plausible_env(const struct json_doc *d, struct err *e)
{
	const struct json *env = json_get(d, d->tok, "env");
	struct id hw_id, id;

	if (!envid_of(d, env, &hw_id, &id))
		return 0;
	return check_id("hw_id", json_get(d, env, "hw_id"), &hw_id, e) < 0
		       ? -1
		       : check_id("env_id", json_get(d, d->tok, "env_id"), &id, e);
}
