#include "lib/policy/share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steepest expected gain first: the one that is filled first. */
static int by_slope(const void *pa, const void *pb)
{
	const struct share *a = pa, *b = pb;
	double x = a->weight / (a->tries + 1), y = b->weight / (b->tries + 1);

	if (x != y)
		return x > y ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

/* Water filling: maximizes the sum of weight x log(tries + 1 + budget). Shares are sorted by slope;
 * returns how many get anything. */
static int fill(struct share *s, int n, double budget)
{
	double weights = 0, tries = 0, level = 0;
	int k;

	for (k = 0; k < n; k++) {
		double w = s[k].weight, t = s[k].tries + 1;

		if (k && w / t <= weights / (budget + tries))
			break;
		weights += w;
		tries += t;
	}
	level = (budget + tries) / weights;
	for (int i = 0; i < n; i++)
		s[i].budget = i < k ? s[i].weight * level - (s[i].tries + 1) : 0;
	return k;
}

/* The same, but no share below SHARE_MIN: the smallest gives way to the others. Operators that had
 * their first candidates stay with those. */
static void share_rest(struct share *s, int n, int64_t budget)
{
	double rest = 0;

	qsort(s, (size_t)n, sizeof *s, by_slope);
	for (int k = n ? fill(s, n, (double)budget) : 0; k > 1; k = fill(s, n, (double)budget)) {
		int least = 0;

		for (int i = 1; i < k; i++)
			if (s[i].budget <= s[least].budget)
				least = i;
		if (s[least].budget >= SHARE_MIN)
			break;
		s[least].budget = 0; /* behind the others, out of their sight */
		for (struct share gone = s[least]; least < n - 1; least++) {
			s[least] = s[least + 1];
			s[least + 1] = gone;
		}
		n--;
	}
	for (int i = 0; i < n; i++) { /* whole numbers with the same sum */
		int64_t whole = (int64_t)floor(s[i].budget + rest + 1e-6);

		rest += s[i].budget - (double)whole;
		s[i].op->budget += whole;
	}
}

/* Are the first candidates of another that is like s[i] chosen in this round? */
static int has_pioneer(const struct share *s, int n, int i)
{
	for (int k = 0; k < n && s[i].like; k++)
		if (k != i && s[k].like && !strcmp(s[k].like, s[i].like) && s[k].op->budget > 0)
			return 1;
	return 0;
}

static int64_t count_new(const struct share *s, int n)
{
	int64_t new = 0;

	for (int i = 0; i < n; i++)
		new += !s[i].op->ntries;
	return new;
}

/* An operator of which nothing is known gets a few candidates whatever its weight, which is a guess
 * then; a rest too small for a share goes to the first of them. Returns what is left for others. */
static int64_t give_first(struct share *s, int n, int64_t budget)
{
	const int is_short = budget < SHARE_MIN * count_new(s, n);
	struct share *first = NULL;
	int waits = 0;

	for (int i = 0; i < n && budget >= SHARE_MIN; i++) {
		if (s[i].op->ntries)
			continue;
		if (is_short && has_pioneer(s, n, i)) {
			waits = 1;
			continue;
		}
		s[i].op->budget = SHARE_MIN;
		s[i].tries += SHARE_MIN;
		budget -= SHARE_MIN;
		first = first ? first : &s[i];
	}
	if (waits)
		return 0; /* the next round begins the sooner */
	if (!first || budget >= SHARE_MIN)
		return budget;
	first->op->budget += budget;
	return 0;
}

void share_out(struct share *s, int n, int64_t budget)
{
	qsort(s, (size_t)n, sizeof *s, by_slope);
	budget = give_first(s, n, budget);
	if (budget)
		share_rest(s, n, budget);
}
