#include "lib/report/saved.h"

static void races(const struct cost_sum *sum, struct buf *out)
{
	const struct savings *s = &sum->saved;

	if (!s->stopped)
		return;
	buf_fmt(out, "%lld of %lld races were stopped early", (long long)s->stopped,
		(long long)s->races);
	if (!s->estimated) {
		buf_str(out, "; no other race of their operators went to its end, so that "
			     "nobody knows what that saved.");
		return;
	}
	buf_fmt(out, ", which saved about %.1f core-seconds: ", s->stopped_s);
	if (s->estimated < s->stopped)
		buf_fmt(out, "%lld of them", (long long)s->estimated);
	else
		buf_str(out, "they");
	buf_str(out, " would have taken as long as the others of their operators.");
}

/* The sentence does not say what the rest would have cost: nobody would have built all of it. */
static void filter(const struct cost_sum *sum, struct buf *out)
{
	const struct savings *s = &sum->saved;

	if (s->proposed <= s->passed_on)
		return;
	buf_fmt(out,
		"Of %lld proposed candidates the filter passed on %lld, and compilers built %lld "
		"of their %lld kernels",
		(long long)s->proposed, (long long)s->passed_on, (long long)s->built,
		(long long)s->kernels);
	if (sum->candidates)
		buf_fmt(out, "; one that was tried cost %.2g core-seconds",
			sum->held_s / (double)sum->candidates);
	buf_ch(out, '.');
}

static void cache(const struct cost_sum *sum, struct buf *out)
{
	const struct savings *s = &sum->saved;

	if (s->cached_s > 0)
		buf_fmt(out, "Kernels from the build cache (%lld) saved about %.2g core-seconds.",
			(long long)(s->kernels - s->built), s->cached_s);
}

static void wait_for_others(const struct cost_sum *sum, struct buf *out)
{
	if (sum->waited_s > 0)
		buf_fmt(out,
			"Other runs on the machine were waited for, %.1f s in all: that time is not "
			"counted.",
			sum->waited_s);
}

static void stop(const struct cost_sum *sum, struct buf *out)
{
	if (sum->stop[0])
		buf_fmt(out, "The rounds ended: %s.", sum->stop);
}

int saved_sentence(const struct cost_sum *s, enum saved_sentence which, struct buf *out)
{
	static void (*const say[SAVED_SENTENCES])(const struct cost_sum *, struct buf *) = {
		[SAVED_RACES] = races,		[SAVED_FILTER] = filter, [SAVED_CACHE] = cache,
		[SAVED_WAIT] = wait_for_others, [SAVED_STOP] = stop,
	};
	const size_t before = out->n;

	say[which](s, out);
	return out->n > before;
}
