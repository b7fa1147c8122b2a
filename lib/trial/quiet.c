#include "lib/trial/quiet.h"

static const double BUSY = 1.15;    /* times the best */
static const double BELIEVE = 1.05; /* what a wait in vain makes of the best, after so many: */
enum { FEW = 8, MANY = 200 };	    /* waits in vain: not worth it now; believed */

int quiet_take(struct quiet *q, double s)
{
	if (q->best_s <= 0 || s < q->best_s)
		q->best_s = s;
	if (s <= BUSY * q->best_s) {
		q->in_vain = 0;
		return 1;
	}
	q->disturbed++;
	return 0;
}

void quiet_believe(struct quiet *q)
{
	if (++q->in_vain > MANY)
		q->best_s *= BELIEVE;
}

int quiet_hope(const struct quiet *q)
{
	return q->in_vain < FEW;
}
