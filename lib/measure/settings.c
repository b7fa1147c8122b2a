#include "lib/measure/settings.h"

#include <stdio.h>

#include "lib/space/key.h"

static void key_real(struct key *k, const char *name, double v)
{
	char text[32];

	snprintf(text, sizeof text, "%.9g", v);
	key_str(k, name, text);
}

static void fill(struct key *k, const struct measure_rules *r)
{
	key_str(k, "cache", caches_name(r->caches));
	key_real(k, "max_error", r->max_error);
	if (r->memory_asked)
		key_real(k, "memory", r->memory);
	else
		key_str(k, "memory", "half");
	key_int(k, "preempt", r->preempt);
	key_real(k, "race_s", r->race_s);
	key_int(k, "rev", SETTINGS_REV);
	key_int(k, "seed", (int64_t)r->seed);
	key_real(k, "timeout_s", r->timeout_s);
	key_int(k, "tl", 1);
	key_str(k, "type", "settings");
}

void settings_text(const struct measure_rules *r, struct buf *out)
{
	struct key k = {0};

	fill(&k, r);
	key_text(&k, out);
}

void settings_id(const struct measure_rules *r, struct id *id)
{
	struct key k = {0};

	fill(&k, r);
	key_id(&k, id);
}
