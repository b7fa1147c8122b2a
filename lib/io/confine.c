#include "lib/io/confine.h"

#ifdef __x86_64__

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_FILTER = 256 };

struct filter {
	struct sock_filter code[MAX_FILTER];
	unsigned short n;
};

static void add(struct filter *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	p->code[p->n++] = (struct sock_filter){code, yes, no, k};
}

static void load(struct filter *p, size_t offset)
{
	add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Arguments are 64 bits wide, the lower half comes first. */
static void load_arg(struct filter *p, int arg, int upper)
{
	load(p, offsetof(struct seccomp_data, args) + 8 * (size_t)arg + 4 * (size_t)upper);
}

static void answer(struct filter *p, int error)
{
	add(p, BPF_RET | BPF_K,
	    error ? SECCOMP_RET_ERRNO | (uint32_t)error : (uint32_t)SECCOMP_RET_ALLOW, 0, 0);
}

/* The next n steps are for this call only. */
static void if_call(struct filter *p, int call, uint8_t n)
{
	add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, n);
}

static void answer_call(struct filter *p, int call, int error)
{
	if_call(p, call, 1);
	answer(p, error);
}

/* Allows a call if `test` (BPF_JSET, BPF_JGE, BPF_JEQ) of the lower half of an argument with k
 * gives `wanted`. */
static void allow_if(struct filter *p, int call, int arg, uint16_t test, uint32_t k, int wanted)
{
	if_call(p, call, 4);
	load_arg(p, arg, 0);
	add(p, BPF_JMP | test | BPF_K, k, wanted ? 0 : 1, wanted ? 1 : 0);
	answer(p, 0);
	answer(p, EPERM);
}

static void allow_if_null(struct filter *p, int call, int arg)
{
	if_call(p, call, 6);
	load_arg(p, arg, 0);
	add(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
	load_arg(p, arg, 1);
	add(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
	answer(p, 0);
	answer(p, EPERM);
}

/* Other architectures' calls have other numbers. */
static void begin(struct filter *p)
{
	p->n = 0;
	load(p, offsetof(struct seccomp_data, arch));
	add(p, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	answer(p, ENOSYS);
	load(p, offsetof(struct seccomp_data, nr));
	add(p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1); /* x32 */
	answer(p, ENOSYS);
}

/* Not by prctl(): before Linux 5.16 that turns mitigations on that slow the kernel down which is
 * to be timed. */
static void install(struct filter *p, unsigned int flags)
{
	struct sock_fprog f = {p->n, p->code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* a second time refused, and not needed */
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &f);
}

void confine_kernel(void)
{
	/* What arithmetic, threads, loading of libraries, clocks and reading of files take; the
	 * frequent ones first. */
	static const int call[] = {
		SYS_futex,
		SYS_sched_yield,
		SYS_mmap,
		SYS_munmap,
		SYS_mprotect,
		SYS_mremap,
		SYS_brk,
		SYS_mincore,
		SYS_msync,
		SYS_membarrier,
		SYS_read,
		SYS_readv,
		SYS_pread64,
		SYS_write,
		SYS_writev,
		SYS_lseek,
		SYS_close,
		SYS_dup,
		SYS_dup2,
		SYS_poll,
		SYS_ppoll,
		SYS_select,
		SYS_pselect6,
		SYS_getdents64,
		SYS_stat,
		SYS_lstat,
		SYS_fstat,
		SYS_newfstatat,
		SYS_statx,
		SYS_statfs,
		SYS_fstatfs,
		SYS_access,
		SYS_faccessat,
		SYS_readlink,
		SYS_readlinkat,
		SYS_getcwd,
		SYS_clock_gettime,
		SYS_clock_getres,
		SYS_clock_nanosleep,
		SYS_nanosleep,
		SYS_gettimeofday,
		SYS_time,
		SYS_times,
		SYS_getrusage,
		SYS_getrandom,
		SYS_uname,
		SYS_sysinfo,
		SYS_getcpu,
		SYS_getpid,
		SYS_gettid,
		SYS_getppid,
		SYS_getpgrp,
		SYS_getuid,
		SYS_geteuid,
		SYS_getgid,
		SYS_getegid,
		SYS_getrlimit,
		SYS_getpriority,
		SYS_get_mempolicy,
		SYS_sched_getaffinity,
		SYS_sched_setaffinity,
		SYS_sched_getparam,
		SYS_sched_getscheduler,
		SYS_rt_sigaction,
		SYS_rt_sigprocmask,
		SYS_rt_sigreturn,
		SYS_rt_sigpending,
		SYS_sigaltstack,
		SYS_pause,
		SYS_set_robust_list,
		SYS_get_robust_list,
		SYS_set_tid_address,
		SYS_rseq,
		SYS_arch_prctl,
		SYS_restart_syscall,
		SYS_exit,
		SYS_exit_group,
		SYS_seccomp,
	};
	struct filter p;

	begin(&p);
	for (size_t i = 0; i < sizeof call / sizeof *call; i++)
		answer_call(&p, call[i], 0);
	allow_if(&p, SYS_clone, 0, BPF_JSET, CLONE_THREAD, 1);
	allow_if(&p, SYS_open, 1, BPF_JSET, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 0);
	allow_if(&p, SYS_openat, 2, BPF_JSET, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 0);
	allow_if(&p, SYS_tgkill, 0, BPF_JEQ, (uint32_t)getpid(), 1); /* abort(), raise() */
	allow_if(&p, SYS_fcntl, 1, BPF_JGE, F_SETFL, 0);	     /* which may send signals */
	allow_if(&p, SYS_madvise, 2, BPF_JGE, 100, 0); /* MADV_HWPOISON and the like */
	allow_if_null(&p, SYS_prlimit64, 2);	       /* getrlimit() */
	/* Among them clone3(), whose flags cannot be seen: libc then takes clone(). */
	answer(&p, ENOSYS);
	install(&p, 0);
}

void confine_team(void)
{
	struct filter p;

	begin(&p);
	answer_call(&p, SYS_clone, EAGAIN);
	answer_call(&p, SYS_sched_setaffinity, EPERM);
	answer(&p, 0);
	install(&p, SECCOMP_FILTER_FLAG_TSYNC);
}

#else

void confine_kernel(void)
{
}

void confine_team(void)
{
}

#endif
