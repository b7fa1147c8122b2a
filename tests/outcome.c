/* Outcomes out of memory in which a kernel could write: what a trial makes is believed, damage is
 * not.
 */
#include <math.h>
#include <string.h>

#include "lib/trial/outcome.h"
#include "tests/tap.h"

/* As a trial makes it. */
static struct outcome made(enum status status, int pairs)
{
	struct outcome o = {.status = status,
			    .why = "it is as it is",
			    .error_l2 = 1e-7,
			    .error_max = 2e-7,
			    .verify_s = 0.01,
			    .run_s = 0.05,
			    .is_duel = 1};
	struct duel *d = &o.duel;

	if (pairs) {
		d->ratio = (struct stat_median){.median = 1, .lo = 0.99, .hi = 1.01, .n = pairs};
		d->time = d->other_time =
			(struct stat_median){.median = 1e-3, .lo = 9e-4, .hi = 1.1e-3, .n = pairs};
	}
	d->n = pairs;
	d->end = DUEL_EVEN;
	o.has_own = 1;
	for (int i = 0; i < pairs; i++)
		d->x[i] = d->y[i] = o.own[i] = 1e-3;
	return o;
}

static struct outcome o;

static void again(void)
{
	o = made(STATUS_OK, 12);
}

/* One field of an outcome that was good is spoilt by a statement. */
#define REFUSED(spoil)                                                                             \
	(again(), (void)(spoil), outcome_is_sane(&o) ? (diag("believed: %s", #spoil), 0) : 1)

static void test_good(void)
{
	static const enum status all[] = {
		STATUS_OK,  STATUS_PREEMPTED,	STATUS_WRONG,	   STATUS_CRASH,  STATUS_TIMEOUT,
		STATUS_OOM, STATUS_UNSUPPORTED, STATUS_UNLOADABLE, STATUS_FAILED,
	};
	static const struct outcome nothing;
	int good = 1;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		o = made(all[i], 12);
		good &= outcome_is_sane(&o);
		o = made(all[i], DUEL_MAX);
		good &= outcome_is_sane(&o);
	}
	ok(good, "what a trial makes is sane, whatever the status");
	o = made(STATUS_WRONG, 0);
	o.error_l2 = INFINITY;
	o.error_max = NAN;
	ok(outcome_is_sane(&o), "also one that was never timed, and whose error is no number");
	o = nothing;
	ok(!outcome_is_sane(&o), "one that was never filled is not");
	o.status = STATUS_OK;
	ok(!outcome_is_sane(&o), "nor is one that is ok, without a time");
}

static void test_status(void)
{
	int good = 1;

	good &= REFUSED(o.status = STATUS_NONE);
	good &= REFUSED(o.status = STATUS_BUILD);
	good &= REFUSED(o.status = STATUS_FILTERED);
	good &= REFUSED(o.status = STATUS_RECORDED);
	good &= REFUSED(o.status = (enum status)(STATUS_FAILED + 1));
	good &= REFUSED(o.status = (enum status) - 1);
	good &= REFUSED(memset(&o.status, 0x41, sizeof o.status));
	good &= REFUSED(memset(o.why, 'x', sizeof o.why));
	good &= REFUSED(o.verify_s = -1);
	good &= REFUSED(o.run_s = NAN);
	ok(good, "a status that is none, a sentence without an end, costs below 0 are refused");
}

static void test_times(void)
{
	struct duel *d = &o.duel;
	int good = 1;

	good &= REFUSED(d->n = 0);
	good &= REFUSED(d->n = -1);
	good &= REFUSED(d->n = DUEL_MAX + 1);
	good &= REFUSED(d->n = 13);
	good &= REFUSED(d->end = (enum duel_end)(DUEL_WON + 1));
	good &= REFUSED(d->end = (enum duel_end) - 1);
	o = made(STATUS_OK, DUEL_MAX);
	d->n = DUEL_MAX + 1; /* what lies behind may look like times */
	good &= !outcome_is_sane(&o);
	ok(good, "a number of pairs or an end that cannot be is refused");
	good = REFUSED(d->x[0] = 0);
	good &= REFUSED(d->x[11] = -1e-3);
	good &= REFUSED(d->y[3] = NAN);
	good &= REFUSED(d->y[11] = INFINITY);
	good &= REFUSED(o.own[0] = 0);
	good &= REFUSED(o.own[11] = NAN);
	ok(good, "so is a time that is none");
	again();
	o.own[12] = NAN;
	good = outcome_is_sane(&o);
	o.own[0] = NAN;
	o.has_own = 0;
	ok(good && outcome_is_sane(&o), "but not what stands where no time is told");
	good = REFUSED(d->time.median = NAN);
	good &= REFUSED(d->time.lo = -1);
	good &= REFUSED(d->time.lo = 2 * d->time.hi);
	good &= REFUSED(d->other_time.hi = INFINITY);
	good &= REFUSED(d->other_time.median = -1);
	good &= REFUSED(d->ratio.lo = NAN);
	good &= REFUSED(d->ratio.median = INFINITY);
	ok(good, "so is a median or an interval that is none");
}

int main(void)
{
	test_good();
	test_status();
	test_times();
	return done_testing();
}
