#include "lib/host/ledger.h"

#include "lib/io/field.h"

static const char *const names[COSTS] = {
	[COST_SEARCH] = "search", [COST_INFERENCE] = "inference", [COST_TRAINING] = "training",
	[COST_BUILD] = "build",	  [COST_VERIFY] = "verify",	  [COST_BASELINE] = "baseline",
	[COST_TIME] = "time",	  [COST_AUDIT] = "audit",	  [COST_PROBE] = "probe",
	[COST_STORE] = "store",	  [COST_OTHER] = "other",	  [COST_IDLE] = "idle",
};

const char *cost_name(enum cost c)
{
	return names[c];
}

enum cost cost_find(const char *s, size_t n)
{
	int c = 0;

	while (c < COSTS && (strlen(names[c]) != n || memcmp(names[c], s, n) != 0))
		c++;
	return (enum cost)c;
}

void ledger_open(struct ledger *l, double cores, double now)
{
	*l = (struct ledger){.cores = cores, .opened = now, .since = now, .now = COST_OTHER};
}

static void charge(struct ledger *l, double now)
{
	l->core_s[l->now] += (now - l->since) * l->cores;
	l->since = now;
}

enum cost ledger_switch(struct ledger *l, enum cost c, double now)
{
	enum cost before = l->now;

	charge(l, now);
	l->now = c;
	return before;
}

/* As much as there is. */
static double take(struct ledger *l, enum cost from, double core_s)
{
	double n = core_s < l->core_s[from] ? core_s : l->core_s[from];

	l->core_s[from] -= n;
	return n;
}

void ledger_move(struct ledger *l, enum cost from, enum cost to, double core_s, double now)
{
	double n;

	charge(l, now);
	n = take(l, from, core_s); /* may be the same account */
	l->core_s[to] += n;
}

void ledger_beside(struct ledger *l, enum cost c, double core_s, double now)
{
	double idle;

	charge(l, now);
	idle = take(l, COST_IDLE, core_s);
	l->core_s[c] += idle;
	ledger_move(l, l->now, c, core_s - idle, now);
}

void ledger_skip(struct ledger *l, double now)
{
	l->parts_s += now - l->since;
	l->since = now;
}

void ledger_wait(struct ledger *l, double s)
{
	l->parts_s -= s;
	l->opened += s;
}

void ledger_close(struct ledger *l, double now)
{
	charge(l, now);
}

void ledger_json(const struct ledger *l, struct buf *out)
{
	field_object(out, NULL);
	for (int c = 0; c < COSTS; c++)
		if (l->core_s[c] > 0)
			field_number(out, names[c], l->core_s[c]);
	buf_ch(out, '}');
}

void ledger_record(const struct ledger *l, const struct ledger_run *run, struct buf *out)
{
	field_record(out, "run");
	field_text(out, "run", run->run);
	field_text(out, "program", run->program);
	field_text(out, "part_of", run->part_of);
	field_text(out, "why", run->why);
	field_text(out, "stop", run->stop);
	field_text(out, "at", run->at);
	field_number(out, "wall_s", l->since - l->opened);
	if (run->waited_s > 0)
		field_number(out, "waited_s", run->waited_s);
	field_number(out, "cores", l->cores);
	if (l->parts_s > 0)
		field_number(out, "parts_s", l->parts_s);
	field_name(out, "cost");
	ledger_json(l, out);
	if (run->energy)
		buf_fmt(out, ",%s", run->energy);
	if (run->replayed)
		field_flag(out, "replayed", 1);
	buf_ch(out, '}');
}
