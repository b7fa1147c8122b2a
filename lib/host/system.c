#include "lib/host/system.h"

#include <stdio.h>
#include <sys/utsname.h>

const char *system_name(void)
{
	static char name[2 * sizeof(((struct utsname *)0)->release) + 2];
	struct utsname u;

	if (!*name && uname(&u) == 0)
		snprintf(name, sizeof name, "%s %s", u.sysname, u.release);
	return name;
}
