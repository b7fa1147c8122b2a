#include "lib/space/strict.h"

#include <stdlib.h>
#include <string.h>

static const char variable[] = "TL_STRICT";

int strict_check(struct err *e)
{
	const char *text = getenv(variable);

	if (!text || !*text || !strcmp(text, "0") || !strcmp(text, "1"))
		return 0;
	return err_status(e, EXIT_USAGE, "%s is \"%s\", which is neither 0 nor 1", variable, text);
}

int strict_is(void)
{
	const char *text = getenv(variable);

	return text && !strcmp(text, "1");
}

void strict_set(void)
{
	setenv(variable, "1", 1);
}
