#include "lib/host/ledger.h"

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

void ledger_close(struct ledger *l, double now)
{
	charge(l, now);
}

void ledger_json(const struct ledger *l, struct buf *out)
{
	const char *comma = "";

	buf_ch(out, '{');
	for (int c = 0; c < COSTS; c++) {
		if (l->core_s[c] <= 0)
			continue;
		buf_fmt(out, "%s\"%s\":", comma, names[c]);
		buf_num(out, l->core_s[c]);
		comma = ",";
	}
	buf_ch(out, '}');
}

static void put_text(struct buf *out, const char *key, const char *text)
{
	if (!text)
		return;
	buf_fmt(out, ",\"%s\":", key);
	buf_json(out, text, strlen(text));
}

static void put_number(struct buf *out, const char *key, double v)
{
	buf_fmt(out, ",\"%s\":", key);
	buf_num(out, v);
}

void ledger_record(const struct ledger *l, const struct ledger_run *run, struct buf *out)
{
	buf_str(out, "{\"tl\":1,\"type\":\"run\"");
	put_text(out, "run", run->run);
	put_text(out, "program", run->program);
	put_text(out, "part_of", run->part_of);
	put_text(out, "why", run->why);
	put_text(out, "at", run->at);
	put_number(out, "wall_s", l->since - l->opened);
	put_number(out, "cores", l->cores);
	if (l->parts_s > 0)
		put_number(out, "parts_s", l->parts_s);
	buf_str(out, ",\"cost\":");
	ledger_json(l, out);
	if (run->energy)
		buf_fmt(out, ",%s", run->energy);
	if (run->replayed)
		buf_str(out, ",\"replayed\":true");
	buf_ch(out, '}');
}
