#include "lib/policy/until.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/number.h"

const char *const until_name[UNTIL_LIMITS] = {"core-seconds", "seconds", "rounds", "candidates"};

int until_parse(struct until *l, const char *text, struct err *e)
{
	for (int i = 0; i < UNTIL_LIMITS; i++)
		l->most[i] = INFINITY;
	while (text && *text) {
		size_t n = strcspn(text, "<,");
		const char *stop = NULL;
		double most = 0;
		int i = 0;

		while (i < UNTIL_LIMITS &&
		       (strlen(until_name[i]) != n || memcmp(until_name[i], text, n) != 0))
			i++;
		if (i == UNTIL_LIMITS || text[n] != '<' ||
		    number_real(text + n + 1, &stop, &most) || (*stop && *stop != ',') ||
		    !strcmp(stop, ","))
			return err_status(e, EXIT_USAGE,
					  "--until wants limits such as "
					  "core-seconds<14400,rounds<8, not \"%s\"",
					  text);
		l->most[i] = fmin(l->most[i], most);
		text = stop + (*stop == ',');
	}
	return 0;
}

const char *until_reached(const struct until *l, const double used[UNTIL_LIMITS], char *buf,
			  size_t size)
{
	for (int i = 0; i < UNTIL_LIMITS; i++)
		if (used[i] >= l->most[i]) {
			snprintf(buf, size, "all stop: the limit %s<%.9g is reached with %.9g",
				 until_name[i], l->most[i], used[i]);
			return buf;
		}
	return NULL;
}
