#include "lib/measure/pause.h"

#include "lib/io/clock.h"
#include "lib/io/record.h"

int pause_for_others(struct measure *m, struct err *e)
{
	const double stood_s = clock_stood();
	int rc;

	if (!lock_is_wanted(&m->lock))
		return 0;
	energy_pause(&m->energy);
	rc = lock_yield(&m->lock, e);
	energy_resume(&m->energy);
	if (m->has_leases) {
		m->until -= clock_stood() - stood_s;
		m->races_until -= clock_stood() - stood_s;
	}
	return rc < 0 && rec_stopped() ? 1 : rc;
}
