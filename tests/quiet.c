/* A machine that is not ours for a while, and one that has become slower. */
#include "lib/trial/quiet.h"

#include "tests/tap.h"

int main(void)
{
	struct quiet q = {0};
	int n = 0;

	ok(quiet_take(&q, 1e-3) && q.best_s == 1e-3, "the first beat is the best");
	ok(quiet_take(&q, 1.1e-3) && q.best_s == 1e-3 && !q.disturbed, "a tenth longer is nothing");
	ok(!quiet_take(&q, 1.2e-3) && q.disturbed == 1, "a fifth longer is a neighbour");
	ok(quiet_take(&q, 0.9e-3) && q.best_s == 0.9e-3, "a faster one is the new best");
	ok(quiet_hope(&q), "a machine that was quiet just now is worth waiting for");
	for (n = 0; n < 150 && !quiet_take(&q, 1.8e-3); n++)
		quiet_believe(&q);
	ok(!quiet_hope(&q), "one that was not for long is not");
	ok(n == 150 && q.best_s == 0.9e-3, "a machine that is slow for a while is not believed");
	ok(quiet_take(&q, 0.95e-3) && quiet_hope(&q),
	   "when it is fast again the waits are forgotten");
	for (n = 0; n < 1000 && !quiet_take(&q, 1.8e-3); n++)
		quiet_believe(&q);
	ok(n > 200 && n < 300, "what stays twice as slow is believed after %d waits in vain", n);
	return done_testing();
}
