/* Units of work: a workload, with its budget and incumbent, that some machine of an env is to tune.
 *
 * A unit is open, leased or done. A machine takes units for a time, the lease, by the database's
 * clock. Who takes some gets a claim, an id, and may renew or give back all that it took by it.
 * When a lease is over, the unit is open again, and another machine may take it.
 *
 * The end record of a unit's workload tells which unit it was, and under which claim. tl-store that
 * stores it sets the unit to done, whoever had it: work that came late is work done. The unit is
 * done once, and a second end record is history. A group that was stopped, or ran out of time,
 * opens its unit again, if nobody else has taken it meanwhile.
 *
 * The same workload, env and round make the same unit, which is opened once; and a workload has one
 * unit at a time that is not done. So any machine may open the next round, whenever it finds
 * nothing to do.
 *
 * There is no daemon, and no scheduler of ours. A unit of work is a row: a workload with its
 * budget, for machines of one env. A machine takes units by one statement that marks them with its
 * claim and the end of its lease, by the clock of the database. On a server, rows that another
 * claim has locked are skipped, so claims do not wait for each other, nor for the writers' lock.
 * The end record of a group carries the unit and the claim from tl-gen to tl-store, in whose batch
 * it is done: the unit and the results are committed together, or not at all. So no message can be
 * lost between the two. Whoever had a unit may finish it, also late: work is never thrown away,
 * and the state of the unit changes once.
 */
#ifndef TL_STORE_UNITS_H
#define TL_STORE_UNITS_H

#include "lib/store/store.h"

/* Opens a unit for a workload record. env_id NULL: for machines of any env. Needs a batch, in which
 * the record was stored. */
enum store_put units_open(struct store *s, const struct json_doc *d, const char *env_id,
			  struct err *e);

/* Takes what an end record tells of its unit. It needs a batch. */
int units_end(struct store *s, const struct json_doc *d, const char *workload_id, struct err *e);

struct units_taker {
	const char *env_id; /* what the machine is */
	const char *holder; /* what users call it */
	double lease_s;
};
/* Takes up to n units, those first that were opened first. line gets each one's workload record,
 * with its unit, its claim, and the time by this machine's clock when the lease ends ("until").
 * They are taken when the function returns. Returns how many; -1: none are taken. */
int64_t units_claim(struct store *s, const struct units_taker *t, int64_t n, store_line_fn *line,
		    void *arg, struct err *e);
/* How many units of a claim now have a lease from now on, or were given back. -1 on failure. */
int64_t units_renew(struct store *s, const char *claim, double lease_s, struct err *e);
int64_t units_release(struct store *s, const char *claim, struct err *e);

struct units_count {
	const char *env_id;		    /* NULL: any */
	int64_t open, leased, lapsed, done; /* lapsed: leased, and the lease is over */
	int64_t lately;			    /* done within the last hour */
	double rate; /* units a second that were done lately; NAN: none were */
};
/* By env, those of any env first. */
int units_count(struct store *s, struct arena *a, struct units_count **count, int *n,
		struct err *e);

struct units_holder {
	const char *name;
	int64_t leased, lapsed;
	double silent_s; /* since the first of its leases was over; 0: none is */
};
/* Who has units, by name. */
int units_holders(struct store *s, struct arena *a, struct units_holder **holder, int *n,
		  struct err *e);

#endif
