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

enum { MAX_FILTER = 160 };

struct program {
	struct sock_filter code[MAX_FILTER];
	unsigned short n;
};

static void add(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	p->code[p->n++] = (struct sock_filter){code, yes, no, k};
}

static void load(struct program *p, size_t offset)
{
	add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(struct program *p, int error)
{
	add(p, BPF_RET | BPF_K,
	    error ? SECCOMP_RET_ERRNO | (uint32_t)error : (uint32_t)SECCOMP_RET_ALLOW, 0, 0);
}

static void refuse(struct program *p, int call, int error)
{
	add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
	answer(p, error);
}

/* Refuses a call of which an argument has any (or, `unless`, not all) of these bits. Arguments are
 * 64 bits wide; the lower half holds the flags. */
static void refuse_bits(struct program *p, int call, int arg, uint32_t bits, int unless)
{
	add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
	load(p, offsetof(struct seccomp_data, args) + 8 * (size_t)arg);
	add(p, BPF_JMP | BPF_JSET | BPF_K, bits, unless ? 1 : 0, unless ? 0 : 1);
	answer(p, EPERM);
	answer(p, 0);
}

static void begin(struct program *p)
{
	p->n = 0;
	load(p, offsetof(struct seccomp_data, arch));
	add(p, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	answer(p, ENOSYS);
	load(p, offsetof(struct seccomp_data, nr));
	add(p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1); /* x32 */
	answer(p, ENOSYS);
}

static void install(struct program *p)
{
	struct sock_fprog f = {p->n, p->code};

	answer(p, 0);
	/* Some kernels switch speculation off where there is a filter: timings would not be those
	 * of a process without one. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &f);
}

/* tgkill() is how abort() and raise() signal their own process. */
static void refuse_signals(struct program *p)
{
	static const int call[] = {SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
				   SYS_pidfd_send_signal};

	for (size_t i = 0; i < sizeof call / sizeof *call; i++)
		refuse(p, call[i], EPERM);
	add(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4);
	load(p, offsetof(struct seccomp_data, args));
	add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0);
	answer(p, EPERM);
	answer(p, 0);
}

void confine_kernel(void)
{
	static const int call[] = {
		SYS_fork,	    SYS_vfork,
		SYS_execve,	    SYS_execveat,
		SYS_socket,	    SYS_setsid,
		SYS_setpgid,	    SYS_socketpair,
		SYS_ptrace,	    SYS_prctl,
		SYS_mount,	    SYS_unshare,
		SYS_setns,	    SYS_creat,
		SYS_unlink,	    SYS_unlinkat,
		SYS_rename,	    SYS_renameat,
		SYS_renameat2,	    SYS_mkdir,
		SYS_mkdirat,	    SYS_rmdir,
		SYS_truncate,	    SYS_link,
		SYS_linkat,	    SYS_symlink,
		SYS_chmod,	    SYS_fchmodat,
		SYS_chown,	    SYS_fchownat,
		SYS_mknod,	    SYS_mknodat,
		SYS_symlinkat,	    SYS_process_vm_writev,
		SYS_setrlimit,	    SYS_openat2,
		SYS_io_uring_setup,
	};
	struct program p;

	begin(&p);
	for (size_t i = 0; i < sizeof call / sizeof *call; i++)
		refuse(&p, call[i], EPERM);
	refuse_signals(&p);
	refuse(&p, SYS_clone3, ENOSYS); /* whose flags cannot be seen: libc then uses clone() */
	refuse_bits(&p, SYS_clone, 0, CLONE_THREAD, 1);
	refuse_bits(&p, SYS_open, 1, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 0);
	refuse_bits(&p, SYS_openat, 2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC, 0);
	/* getrlimit() is prlimit64() without new limits. */
	refuse_bits(&p, SYS_prlimit64, 2, ~0U, 0);
	install(&p);
}

#else

void confine_kernel(void)
{
}

#endif
