/* Signals that stop a program: rec_stop_on_signals() and its kin, which record.h declares. What has
 * no records, such as proc.c, needs this file alone. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/io/clock.h"
#include "lib/io/record.h"
#include "lib/io/temporary.h"

/* A signal sets the number and makes the pipe readable, so that no signal is lost between the check
 * of the number and the wait for input. The next signal kills the program, and so does the alarm if
 * the program has not ended meanwhile. A sink ignores one signal before these two. */

static volatile sig_atomic_t stop_signal;
static int stop_pipe[2] = {-1, -1};

/* One stop may come twice at once: to the process group, and from the parent. */
static const double STOP_AGAIN_S = 0.5;
static const struct itimerval stop_within = {.it_value.tv_usec = 500000};
static int takes_its_time; /* no alarm is set */
static int stops_passed;   /* how many are let pass: 1 in a sink */
static int stops;	   /* how many came */
static double stop_at;	   /* when the last one came */

/* Ends the process by this signal once the handler returns. */
static void die_by(int sig)
{
	temporary_remove_all();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void on_alarm(int sig)
{
	(void)sig;
	die_by(stop_signal);
}

static void on_stop(int sig)
{
	const double now = clock_now() + clock_stood();
	int saved = errno, another = !stops || now - stop_at > STOP_AGAIN_S;

	if (another && stops > stops_passed)
		die_by(sig);
	if (another) {
		stops++;
		stop_at = now;
	}
	if (another && stops > stops_passed) {
		stop_signal = sig;
		if (!takes_its_time)
			setitimer(ITIMER_REAL, &stop_within, NULL);
		if (write(stop_pipe[1], "", 1) < 0)
			errno = 0; /* the pipe is full: it is readable already */
	}
	errno = saved;
}

void rec_read_on_at_first_signal(void)
{
	stops_passed = 1;
	rec_stop_on_signals();
}

void rec_stop_in_own_time(void)
{
	takes_its_time = 1;
	rec_stop_on_signals();
}

void rec_stop_in_time(void)
{
	takes_its_time = 0;
	if (stop_signal)
		setitimer(ITIMER_REAL, &stop_within, NULL);
}

void rec_stop_on_signals(void)
{
	static const int sigs[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa = {.sa_handler = on_stop}, late = {.sa_handler = on_alarm}, old;

	sigfillset(&sa.sa_mask);
	sigfillset(&late.sa_mask);
	if (stop_pipe[0] < 0 && pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK))
		return; /* signals go on killing */
	for (size_t i = 0; i < sizeof sigs / sizeof *sigs; i++) {
		sigaction(sigs[i], NULL, &old);
		if (old.sa_handler != SIG_IGN) /* nohup, or a background job */
			sigaction(sigs[i], &sa, NULL);
	}
	sigaction(SIGALRM, &late, NULL);
}

int rec_stopped(void)
{
	return stop_signal;
}

int rec_was_told(void)
{
	return stops > 0;
}

int rec_stop_fd(void)
{
	return stop_pipe[0];
}
