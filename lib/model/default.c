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
		return pretrained ? path_share(out, "models/cpu.model", e) : 0;
	if (!strcmp(named, "none"))
		return 0;
	buf_clear(out);
	buf_str(out, named);
	return 1;
}
