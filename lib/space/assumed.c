#include "lib/space/assumed.h"

const struct assumed assumed = {
	.l2 = 40,
	.l3 = 10,
	.memory = 5,
	.fork_s = 2e-6,
	.hz = 2.5e9,
};

double assumed_l3(const struct limits *m)
{
	return m->l3_rate > 0 ? m->l3_rate : assumed.l3;
}

double assumed_stream(const struct limits *m)
{
	return m->l3_rate > assumed.l3 ? 2 * assumed.memory : assumed.memory;
}

double assumed_hz(const struct limits *m)
{
	return m->hz > 0 ? m->hz : assumed.hz;
}
