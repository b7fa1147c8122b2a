/* Racing over made-up samples: warm-up, outliers, when a candidate has lost and when it has not;
 * and by simulation with noise, how often a good candidate is stopped and what a slow one costs. */
#include <math.h>
#include <string.h>

#include "lib/base/rng.h"
#include "lib/trial/race.h"
#include "tests/tap.h"

/* ---- calls whose times are told ---- */

struct script {
	const double *head; /* first these */
	int n;
	double rest[2]; /* then these in turns */
	int calls;
	int fail_at; /* the call that fails, from 1; 0: none */
};

static int scripted(void *arg, double *seconds, struct err *e)
{
	struct script *s = arg;
	int i = s->calls++;

	if (s->calls == s->fail_at)
		return err_set(e, "call %d fails", s->calls);
	*seconds = i < s->n ? s->head[i] : s->rest[(i - s->n) & 1];
	return 0;
}

/* A race of calls that take `rest` after those of head. */
static struct race race(struct script *s, double limit_s, double budget_s)
{
	const struct race_rules rules = {limit_s, budget_s};
	struct race r = {0};
	struct err e = ERR_INIT;

	s->calls = 0;
	if (race_run(&rules, scripted, s, &r, &e) < 0)
		bail_out("a race of numbers fails: %s", e.msg);
	return r;
}

static void test_samples(void)
{
	static const double warm[] = {9e-3, 5e-3, 2e-3};
	struct script quiet = {.rest = {1e-3, 1.001e-3}};
	struct script warming = {.head = warm, .n = 3, .rest = {1e-3, 1.001e-3}};
	struct script noisy = {.rest = {1e-3, 2e-3}};
	double spiky[40];
	struct script spikes = {.head = spiky, .n = 40, .rest = {1e-3, 1.001e-3}};
	struct race r = race(&quiet, 0, 1);

	ok(!r.lost && r.n == 16 && !r.warmup && !r.outliers, "narrow at once: %d calls", r.n);
	ok(r.time.lo <= r.time.median && r.time.median <= r.time.hi && r.time.hi <= 1.001e-3,
	   "median and interval");
	r = race(&warming, 0, 1);
	ok(r.warmup == 3 && r.time.hi <= 1.001e-3, "warm-up is found and left out: %d", r.warmup);
	for (int i = 0; i < 40; i++)
		spiky[i] = i % 10 == 7 ? 1e-2 : i % 2 ? 1.02e-3 : 1e-3;
	r = race(&spikes, 0, 1);
	ok(r.outliers >= 1 && r.time.median < 1.03e-3,
	   "spikes are outliers, %d, and the median stays", r.outliers);
	r = race(&noisy, 0, 0.05);
	ok(!r.lost && r.spent_s > 0.05 && r.n <= 64, "the budget ends it: %d calls, %g s", r.n,
	   r.spent_s);
	r = race(&noisy, 0, 1e9);
	ok(r.n == RACE_MAX, "or the room for samples");
}

static void test_lost(void)
{
	static const double slow_first[] = {5e-2};
	static const double fast_later[] = {2e-3, 0.9e-3};
	struct script twice = {.rest = {2e-3, 2e-3}}, third = {.rest = {1.32e-3, 1.33e-3}};
	struct script tenth = {.rest = {1.10e-3, 1.11e-3}}, near = {.rest = {1.005e-3, 1.006e-3}};
	struct script equal = {.rest = {1e-3, 1.01e-3}}, better = {.rest = {0.7e-3, 0.7e-3}};
	struct script cold = {.head = slow_first, .n = 1, .rest = {0.9e-3, 0.9e-3}};
	struct script saved = {.head = fast_later, .n = 2, .rest = {5e-3, 5e-3}};
	struct script brief = {.rest = {14e-6, 14e-6}}, tiny = {.rest = {2e-6, 2e-6}};
	struct script far = {.rest = {5e-6, 5e-6}};
	struct race r = race(&twice, 1e-3, 1);

	ok(r.lost && r.n <= 2 && r.time.lo == 2e-3, "twice the limit: lost after %d calls", r.n);
	r = race(&third, 1e-3, 1);
	ok(r.lost && r.n == 3 && r.time.lo == 1.32e-3, "1.32 times: after %d calls", r.n);
	r = race(&tenth, 1e-3, 1);
	ok(r.lost && r.n == 5, "1.1 times: after %d calls", r.n);
	ok(!race(&near, 1e-3, 1).lost && !race(&equal, 1e-3, 1).lost &&
		   !race(&better, 1e-3, 1).lost,
	   "near, equal and better ones do not lose");
	r = race(&cold, 1e-3, 1);
	ok(!r.lost, "nor does one whose first call is slow");
	r = race(&saved, 1e-3, 1);
	ok(r.lost && r.n == 8 && r.time.lo == 2e-3,
	   "a fast call saves it only for a while: %d calls", r.n);
	ok(!race(&tiny, 1e-6, 1).lost, "what is over before anything was seen does not lose");
	r = race(&brief, 1e-5, 1);
	ok(r.lost && r.spent_s >= 3e-3 && r.n <= RACE_MAX, "a short one is looked at for %g s",
	   r.spent_s);
	r = race(&far, 1e-6, 1);
	ok(r.lost && r.spent_s >= 2e-4 && r.spent_s < 1e-3, "for %g s if it is far behind",
	   r.spent_s);
	r = race(&twice, 0, 1);
	ok(!r.lost, "without a limit no one loses");
}

static void test_going_on(void)
{
	const struct race_rules rules = {.limit_s = 1e-3, .budget_s = 0.1};
	const struct race_rules more = {.budget_s = 0.2};
	struct script s = {.rest = {2e-3, 2.001e-3}};
	struct err e = ERR_INIT;
	struct race r = {0};
	int before, lost;

	race_run(&rules, scripted, &s, &r, &e);
	before = r.n;
	lost = r.lost;
	race_run(&more, scripted, &s, &r, &e);
	ok(lost && !r.lost && r.n > before && r.n >= 16 && r.n == s.calls && r.time.lo == 2e-3,
	   "a lost race goes on with its samples: %d, then %d", before, r.n);
	s = (struct script){.rest = {1e-3, 1e-3}, .fail_at = 6};
	r = (struct race){0};
	ok(race_run(&rules, scripted, &s, &r, &e) < 0 && strstr(e.msg, "call 6"),
	   "a call that fails ends it: %s", e.msg);
}

/* The samples alone say how it comes out: a race of those of another one. */
static void test_again(void)
{
	const struct race_rules rules = {1e-5, 1};
	struct script first = {.rest = {1.05e-5, 1.1e-5}}, second = {0};
	struct err e = ERR_INIT;
	struct race a = race(&first, 1e-5, 1), b = {0};

	second.head = a.x;
	second.n = a.n;
	second.fail_at = a.n + 1;
	race_run(&rules, scripted, &second, &b, &e);
	ok(a.lost && !e.msg[0] && b.lost && b.n == a.n && b.spent_s == a.spent_s &&
		   b.time.lo == a.time.lo,
	   "samples that come again end at the same call: %d", b.n);
}

/* ---- simulation ---- */

/* A machine with log-normal noise, spikes, and others' bursts of work. */
struct machine {
	struct rng rng;
	double call_s; /* true time of a call */
	double now;
	double burst_from, burst_to;
};

static const double SIGMA = 0.02, SPIKES = 0.005, SPIKE = 10;
static const double BURST_S = 2e-3, BURST_GAP_S = 0.1, BURST = 2;

static double normal(struct rng *r)
{
	return sqrt(-2 * log(1 - rng_unit(r))) * cos(6.283185307179586 * rng_unit(r));
}

static void next_burst(struct machine *m)
{
	m->burst_from = m->burst_to - BURST_GAP_S * log(1 - rng_unit(&m->rng));
	m->burst_to = m->burst_from + BURST_S;
}

static void machine_start(struct machine *m, const char *name, double call_s)
{
	*m = (struct machine){.call_s = call_s};
	rng_seed(&m->rng, 1, name);
}

/* The time of a piece of work, which bursts make last longer. */
static int simulated(void *arg, double *seconds, struct err *e)
{
	struct machine *m = arg;
	double work = m->call_s * exp(SIGMA * normal(&m->rng)), start = m->now;

	(void)e;
	if (rng_unit(&m->rng) < SPIKES)
		work *= SPIKE;
	while (work > 0) {
		int within = m->now >= m->burst_from;
		double until = (within ? m->burst_to : m->burst_from) - m->now;
		double rate = within ? 1 / BURST : 1, done = until * rate;

		if (done >= work) {
			m->now += work / rate;
			work = 0;
		} else {
			m->now += until;
			work -= done;
			if (within)
				next_burst(m);
		}
	}
	*seconds = m->now - start;
	return 0;
}

struct outcome {
	double lost, calls, seconds; /* a race, on average */
};

static struct outcome simulate(double call_s, double ratio, int races)
{
	const struct race_rules rules = {.limit_s = call_s, .budget_s = 0.1};
	struct outcome o = {0};
	struct machine m;
	struct err e = ERR_INIT;
	char name[60];

	snprintf(name, sizeof name, "%g %g", call_s, ratio);
	machine_start(&m, name, call_s * ratio);
	next_burst(&m);
	for (int i = 0; i < races; i++) {
		struct race r = {0};

		m.now += 0.05 * rng_unit(&m.rng); /* whatever lies between them */
		while (m.now >= m.burst_to)
			next_burst(&m);
		race_run(&rules, simulated, &m, &r, &e);
		o.lost += r.lost;
		o.calls += r.n;
		o.seconds += r.spent_s;
	}
	o.lost /= races;
	o.calls /= races;
	o.seconds /= races;
	return o;
}

static void test_noise(void)
{
	static const double call_s[] = {5e-6, 20e-6, 100e-6, 500e-6, 2e-3, 10e-3};
	const int races = 2000;

	for (size_t i = 0; i < sizeof call_s / sizeof *call_s; i++) {
		struct outcome equal = simulate(call_s[i], 1, races);
		struct outcome better = simulate(call_s[i], 0.97, races);
		struct outcome slower = simulate(call_s[i], 1.05, races / 4);
		struct outcome third = simulate(call_s[i], 1.32, races / 4);
		struct outcome twice = simulate(call_s[i], 2, races / 4);

		ok(equal.lost < 0.01 && better.lost < 0.002,
		   "calls of %g s: an equal one loses in %g%%, a better one in %g%%", call_s[i],
		   100 * equal.lost, 100 * better.lost);
		ok(slower.lost > 0.8, "one 5%% slower in %g%%, after %.1f calls and %.3g s",
		   100 * slower.lost, slower.calls, slower.seconds);
		ok(third.lost > 0.999 && twice.lost > 0.999,
		   "1.32 times: after %.1f calls and %.3g s; twice: %.1f and %.3g s", third.calls,
		   third.seconds, twice.calls, twice.seconds);
	}
}

int main(void)
{
	test_samples();
	test_lost();
	test_going_on();
	test_again();
	test_noise();
	return done_testing();
}
