#include "lib/model/default.h"

#include <stdlib.h>
#include <string.h>

#include "lib/io/proc.h"

int model_default(const char *named, int pretrained, struct buf *out, struct err *e)
{
	const char *set = getenv("TL_MODEL");

	if (!named && set && *set)
		named = set;
	if (!named)
		named = pretrained ? "pretrained" : "none";
	if (!strcmp(named, "none"))
		return 0;
	if (!strcmp(named, "pretrained"))
		return path_share(out, "models/cpu.model", e);
	buf_clear(out);
	buf_str(out, named);
	return 1;
}
