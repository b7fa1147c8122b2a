#include "lib/base/stack.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

static const rlim_t usual = 8 << 20, least = 1 << 20;

/* Threads that others make have this size, too. */
static int set_threads(size_t bytes)
{
	pthread_attr_t attr;
	int rc = pthread_attr_init(&attr);

	if (rc)
		return rc;
	rc = pthread_attr_setstacksize(&attr, bytes);
	if (!rc)
		rc = pthread_setattr_default_np(&attr);
	pthread_attr_destroy(&attr);
	return rc;
}

int stack_prepare(struct err *e)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_STACK, &r))
		return err_sys(e, "cannot tell the limit of the stack");
	if (r.rlim_cur >= usual) /* RLIM_INFINITY is the largest number */
		return 0;
	r.rlim_cur = r.rlim_max < usual ? r.rlim_max : usual;
	if (r.rlim_cur < least)
		return err_set(e,
			       "the limit of the stack is %llu kB, and the programs want %llu kB "
			       "at least (ulimit -s)",
			       (unsigned long long)r.rlim_cur >> 10,
			       (unsigned long long)least >> 10);
	if (setrlimit(RLIMIT_STACK, &r))
		return err_sys(e, "cannot raise the limit of the stack");
	errno = set_threads((size_t)r.rlim_cur);
	return errno ? err_sys(e, "cannot set the size of the threads' stacks") : 0;
}
