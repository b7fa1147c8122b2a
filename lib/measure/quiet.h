/* Is the machine ours? On a shared one neighbours slow everything down by half for a while, unseen:
 * a virtual machine is told of no steal, no switch, no clock. What they cannot hide is that a fixed
 * piece of arithmetic, a beat (target/probe.h), takes longer than it ever did. Trials have all
 * threads run one before and after what they time, and wait for a while if it is slow. A machine
 * that stays slower is believed in the end.
 */
#ifndef TL_MEASURE_QUIET_H
#define TL_MEASURE_QUIET_H

struct quiet {
	double best_s; /* of a beat, so far; 0: none yet */
	int disturbed; /* beats that took a sixth longer */
};

/* Takes note of a beat that took s seconds: 1 if the machine was as fast as it ever was. */
int quiet_take(struct quiet *q, double s);
/* After a wait in vain. */
void quiet_believe(struct quiet *q);

#endif
