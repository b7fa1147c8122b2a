#include "lib/model/default.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/proc.h"

const char *model_name(const char *named, int pretrained)
{
	const char *set = getenv("TL_MODEL");

	if (named)
		return named;
	if (set && *set)
		return set;
	return pretrained ? "pretrained" : "none";
}

int model_default(const char *named, int pretrained, const struct target *t, struct buf *out,
		  struct err *e)
{
	const char *name = model_name(named, pretrained);
	char file[64];

	if (!strcmp(name, "none"))
		return 0;
	if (!strcmp(name, "pretrained")) {
		snprintf(file, sizeof file, "models/%s.model", t->name);
		return path_share(out, file, e);
	}
	buf_clear(out);
	buf_str(out, name);
	return 1;
}
