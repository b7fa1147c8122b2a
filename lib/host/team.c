#include "lib/host/team.h"

#include <stdio.h>
#include <stdlib.h>

void team_environment(int threads)
{
	char text[16];

	snprintf(text, sizeof text, "%d", threads);
	setenv("OMP_NUM_THREADS", text, 1);
	setenv("OMP_PROC_BIND", "true", 1);
	setenv("OMP_DYNAMIC", "false", 1);
}
