#include "tests/emulator/fiber.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
	PAGE = 4096,
	STACK = 32 * PAGE, /* of a fiber; an untouchable page lies below it */
	SIGNAL_STACK = 16 * PAGE,
	BEHIND = 16 << 20, /* bytes behind a block's memory that cannot be touched */
	WARPS = FIBER_THREADS / EMULATOR_WARP,
	SAVED = 6, /* registers that a switch keeps */
	SIGNALS = 4,
};

enum state { READY, WAITS_BLOCK, WAITS_WARP, GONE };

static const int signals[SIGNALS] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};

/* Threads of a block or a warp that are not gone, and those that wait. */
struct group {
	int alive, wait;
};

static struct {
	const struct fiber_grid *grid;
	void *host, *stack[FIBER_THREADS]; /* stack pointers of who does not run */
	enum state state[FIBER_THREADS];
	int n, current;
	struct group block, warp[WARPS];
	char exchange[WARPS][EMULATOR_WARP * EMULATOR_EXCHANGE];
	char *stacks, *memory; /* mapped; the latter ends at a page that cannot be touched */
	enum fiber_end end;
} run;

/* ---- switching ---- */

/* Saves who runs at *from, and goes on with who was saved as `to`. fiber_resume() is its second
 * half: it begins with the stack pointer already there. */
void fiber_switch(void **from, void *to);
void fiber_resume(void);
__asm__(".text\n"
	"fiber_switch:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n"
	"	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"fiber_resume:\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n"
	"	pop %r12\n	pop %rbp\n	pop %rbx\n"
	"	ret\n");

static void show(int i)
{
	const struct emulator_dim *size = &run.grid->threads;
	struct emulator *e = run.grid->emulator;

	run.current = i;
	e->thread.x = (unsigned)i % size->x;
	e->thread.y = (unsigned)i / size->x % size->y;
	e->thread.z = (unsigned)i / size->x / size->y;
	e->exchange = run.exchange[i / EMULATOR_WARP];
}

/* Goes on with the next thread that can, or with the host where all are gone. */
static void next(void)
{
	const int from = run.current;
	int i = from;

	if (!run.block.alive)
		fiber_switch(&run.stack[from], run.host);
	do {
		i = i + 1 == run.n ? 0 : i + 1;
	} while (run.state[i] != READY && i != from);
	while (run.state[i] != READY) /* all wait, and nobody comes */
		__builtin_ia32_pause();
	show(i);
	if (i != from)
		fiber_switch(&run.stack[from], run.stack[i]);
}

/* ---- waiting ---- */

static void release(struct group *g, enum state waits, int first, int end)
{
	if (g->wait < g->alive)
		return;
	g->wait = 0;
	for (int i = first; i < end && i < run.n; i++)
		if (run.state[i] == waits)
			run.state[i] = READY;
}

static void release_block(void)
{
	release(&run.block, WAITS_BLOCK, 0, run.n);
}

static void release_warp(int warp)
{
	release(&run.warp[warp], WAITS_WARP, warp * EMULATOR_WARP, (warp + 1) * EMULATOR_WARP);
}

static void wait_block(void)
{
	run.state[run.current] = WAITS_BLOCK;
	run.block.wait++;
	release_block();
	next();
}

static void wait_warp(void)
{
	const int warp = run.current / EMULATOR_WARP;

	run.state[run.current] = WAITS_WARP;
	run.warp[warp].wait++;
	release_warp(warp);
	next();
}

/* A thread from its beginning to its end. It never returns. */
static void thread(void)
{
	int warp;

	run.grid->kernel(run.grid->params);
	warp = run.current / EMULATOR_WARP;
	run.state[run.current] = GONE;
	run.block.alive--;
	run.warp[warp].alive--;
	release_warp(warp);
	release_block();
	next();
}

/* ---- faults ---- */

/* A kernel has died: the host goes on. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;

	/* The compiler's checks of alignment end in an illegal instruction (SIGILL). A misaligned
	 * vector is refused by the processor itself, which tells no address. */
	run.end = sig == SIGILL || info->si_code == SI_KERNEL ? FIBER_MISALIGNED
		  : sig == SIGFPE			      ? FIBER_FAILED
							      : FIBER_ILLEGAL_ADDRESS;
	reg[REG_RSP] = (greg_t)(uintptr_t)run.host;
	reg[REG_RIP] = (greg_t)(uintptr_t)fiber_resume;
}

struct handlers {
	struct sigaction action[SIGNALS];
	stack_t stack;
};

static void catch (struct handlers *before)
{
	static char stack[SIGNAL_STACK] __attribute__((aligned(64)));
	const struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};

	sigaltstack(&alternate, &before->stack);
	for (int i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &sa, &before->action[i]);
}

static void catch_no_more(const struct handlers *before)
{
	for (int i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &before->action[i], NULL);
	sigaltstack(&before->stack, NULL);
}

/* ---- blocks ---- */

/* n bytes between some that cannot be touched. */
static char *map(size_t n)
{
	char *p = mmap(NULL, PAGE + n + BEHIND, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED || mprotect(p + PAGE, n, PROT_READ | PROT_WRITE))
		return NULL;
	return p + PAGE;
}

static int prepare(void)
{
	if (!run.memory)
		run.memory = map(FIBER_BLOCK_BYTES + PAGE - FIBER_BLOCK_BYTES % PAGE);
	if (!run.stacks)
		run.stacks = map((size_t)FIBER_THREADS * (STACK + PAGE));
	return run.memory && run.stacks ? 0 : -1;
}

static void *dynamic_memory(void)
{
	const size_t all = FIBER_BLOCK_BYTES + PAGE - FIBER_BLOCK_BYTES % PAGE;
	const size_t bytes = (run.grid->block_bytes + 15) & ~(size_t)15;

	return memset(run.memory + all - bytes, 0xff, bytes);
}

static void start(int i)
{
	char *bottom = run.stacks + (size_t)i * (STACK + PAGE);
	void **top = (void **)(void *)(bottom + STACK) - 2; /* a call's alignment */
	void (*const entry)(void) = thread;

	memcpy(top, &entry, sizeof entry);
	run.stack[i] = top - SAVED;
	run.state[i] = READY;
	run.block.alive++;
	run.warp[i / EMULATOR_WARP].alive++;
}

static void run_block(struct emulator_dim at)
{
	run.grid->emulator->block = at;
	run.grid->emulator->shared = dynamic_memory();
	run.block = (struct group){0, 0};
	memset(run.warp, 0, sizeof run.warp);
	for (int i = 0; i < run.n; i++)
		start(i);
	show(0);
	fiber_switch(&run.host, run.stack[0]);
}

static void guard_stacks(void)
{
	static int guarded;

	for (; guarded < run.n; guarded++)
		mprotect(run.stacks + (size_t)guarded * (STACK + PAGE) + STACK, PAGE, PROT_NONE);
}

enum fiber_end fiber_run(const struct fiber_grid *g)
{
	struct emulator *e = g->emulator;
	struct handlers before;
	struct emulator_dim at;

	if (prepare() < 0)
		return FIBER_NO_MEMORY;
	run.grid = g;
	run.n = (int)(g->threads.x * g->threads.y * g->threads.z);
	run.end = FIBER_DONE;
	guard_stacks();
	e->block_dim = g->threads;
	e->grid_dim = g->blocks;
	e->wait_block = wait_block;
	e->wait_warp = wait_warp;
	catch (&before);
	for (at.z = 0; at.z < g->blocks.z; at.z++)
		for (at.y = 0; at.y < g->blocks.y; at.y++)
			for (at.x = 0; at.x < g->blocks.x && !run.end; at.x++)
				run_block(at);
	catch_no_more(&before);
	return run.end;
}
