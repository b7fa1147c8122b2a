/* Is the machine ours? On a shared one neighbours slow everything down by half or double it for a
 * while, unseen: a virtual machine is told of no steal, no switch, no clock. What they cannot hide
 * is that a fixed piece of arithmetic, a beat (target/probe.h), takes longer than it ever did.
 *
 * Trials have all threads run one before and after what they time. If it is slow, they wait a
 * little; a race in which it gets slow is run once more, and rounds of a final count for less.
 * Where some such waits have been in vain nobody waits any more, until a beat happens to be fast
 * again. A machine that never is again is believed in the end: so it is now.
 */
#ifndef TL_TRIAL_QUIET_H
#define TL_TRIAL_QUIET_H

struct quiet {
	double best_s; /* of a beat, so far; 0: none yet */
	int disturbed; /* beats that took a sixth longer */
	int in_vain;   /* waits, since the last beat that did not */
};

/* Takes note of a beat that took s seconds: 1 if the machine was as fast as it ever was. */
int quiet_take(struct quiet *q, double s);
/* After a wait in vain. */
void quiet_believe(struct quiet *q);
/* Is it worth waiting? */
int quiet_hope(const struct quiet *q);

#endif
