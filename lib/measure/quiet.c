#include "lib/measure/quiet.h"

static const double BUSY = 1.15;    /* times the best */
static const double BELIEVE = 1.05; /* what a wait in vain makes of the best */

int quiet_take(struct quiet *q, double s)
{
	if (q->best_s <= 0 || s < q->best_s)
		q->best_s = s;
	if (s <= BUSY * q->best_s)
		return 1;
	q->disturbed++;
	return 0;
}

void quiet_believe(struct quiet *q)
{
	q->best_s *= BELIEVE;
}
