/* Fenced memory: what is written outside is seen or kills, and the place of a fault is found. */
#include <stdlib.h>
#include <string.h>

#include "lib/trial/cell.h"
#include "lib/trial/fence.h"
#include "tests/tap.h"

struct access {
	volatile float *p;
	int write;
};

/* Writing where it was frozen, after a thaw and after another frost. */
static void thaw_and_write(void *arg, void *answer)
{
	const struct fence *f = arg;
	float *data = f->data;

	fence_thaw(f);
	data[0] = 2;
	data[f->n - 1] = 2;
	*(char *)answer = data[0] == 2;
}

static void thaw_and_freeze(void *arg, void *answer)
{
	const struct fence *f = arg;

	thaw_and_write(arg, answer);
	fence_freeze(f);
	*(float *)f->data = 3;
}

static void do_access(void *arg, void *answer)
{
	const struct access *a = arg;

	(void)answer;
	if (a->write)
		*a->p = 1;
	else
		(void)*a->p;
}

static enum cell_end in_cell(void (*what)(void *, void *), void *arg)
{
	const struct cell c = {.timeout_s = 20, .threads = 1};
	struct cell_fault fault;
	char why[CELL_WHY], answer;

	return cell_run(&c, what, arg, &answer, 1, &fault, why);
}

/* Does a process die of it? */
static int kills(float *p, int write)
{
	struct access a = {p, write};

	return in_cell(do_access, &a) == CELL_CRASH;
}

static int64_t place(const struct fence *f, const void *p)
{
	int64_t bytes = 0;

	return fence_locate(f, p, &bytes) ? bytes : INT64_MIN;
}

/* n floats: whole pages, or not. */
static void test_size(int64_t n)
{
	const int whole = n % 1024 == 0;
	struct fence f;
	float *data;
	int zero = 1;

	fence_open(&f, "the thing", n, sizeof *data);
	data = f.data;
	for (int64_t i = 0; i < n; i++)
		zero &= data[i] == 0;
	ok(zero && (uintptr_t)data % 4096 == 0 && f.n == n && !strcmp(f.name, "the thing"),
	   "%lld floats, 0 all, at a page", (long long)n);
	fence_populate(&f);
	fence_arm(&f);
	ok(!fence_broken(&f), "armed and whole");
	for (int64_t i = 0; i < n; i++)
		data[i] = 1;
	ok(!fence_broken(&f), "writing inside breaks nothing");
	ok(kills(data - 1, 1) && kills(data - 1, 0), "a step before it kills, to read or to write");
	ok(kills(data - 200000, 1) && kills(data + n + 200000, 1), "as do great leaps");
	if (whole) {
		ok(kills(data + n, 1), "a step behind whole pages kills");
	} else {
		volatile unsigned char *behind = (unsigned char *)(data + n);

		behind[3] ^= 1;
		ok(fence_broken(&f), "a byte behind it is seen");
		behind[3] ^= 1;
		behind[(4096 - (uintptr_t)behind % 4096) - 1] = 0;
		ok(fence_broken(&f), "as is the last one of the page");
		fence_arm(&f);
		ok(!fence_broken(&f), "armed again");
	}
	ok(place(&f, data - 1) == -4 && place(&f, data) == 0 && place(&f, data + n) == 1 &&
		   (n == 0 || place(&f, (char *)(data + n) - 1) == 0) &&
		   place(&f, data + n + 10) == 41,
	   "the place of a fault");
	ok(place(&f, &f) == INT64_MIN && place(&f, NULL) == INT64_MIN &&
		   place(&f, f.map + f.map_bytes) == INT64_MIN,
	   "which may lie elsewhere");
	fence_freeze(&f);
	ok(kills(data, 1) && !kills(data, 0), "frozen: to be read, not to be written");
	ok(in_cell(thaw_and_write, &f) == CELL_DONE && kills(data, 1) && data[0] == 1,
	   "thawed it can be written, by that process alone");
	ok(in_cell(thaw_and_freeze, &f) == CELL_CRASH, "and frozen again it cannot");
	fence_thaw(&f);
	ok(!kills(data, 1) && kills(data - 1, 1) && kills(data + n + 200000, 1) &&
		   !fence_broken(&f),
	   "a thaw opens nothing around it");
	fence_close(&f);
	ok(place(&f, data) == INT64_MIN, "closed");
	fence_close(&f);
}

static void test_inherit(void)
{
	struct fence f;

	fence_open(&f, "the thing", 3000, sizeof(float));
	fence_inherit(&f, 0);
	ok(kills(f.data, 0), "a child has not what it does not inherit");
	fence_inherit(&f, 1);
	ok(!kills(f.data, 0) && !kills(f.data, 1), "and has it again");
	fence_close(&f);
}

/* Two fences: the second takes the place of the first. */
static void replace(void *fences, void *answer)
{
	const struct fence *f = fences;
	const float *data = f[0].data;

	fence_replace(&f[0], &f[1]);
	*(char *)answer = 1;
	if (data[0] != 2 || data[2999] != 2 || fence_broken(&f[0]))
		abort();
}

static void replace_and_write(void *fences, void *answer)
{
	const struct fence *f = fences;

	(void)answer;
	fence_replace(&f[0], &f[1]);
	*(volatile float *)f[0].data = 3;
}

static void test_replace(void)
{
	struct fence f[2];
	float *data[2];

	for (int k = 0; k < 2; k++) {
		fence_open(&f[k], "the thing", 3000, sizeof(float));
		data[k] = f[k].data;
		for (int i = 0; i < 3000; i++)
			data[k][i] = (float)(k + 1);
		fence_arm(&f[k]);
		fence_freeze(&f[k]);
	}
	ok(in_cell(replace, f) == CELL_DONE && data[0][0] == 1,
	   "other data take the place of a fence's, in that process alone");
	ok(in_cell(replace_and_write, f) == CELL_CRASH, "and are frozen there");
	fence_close(&f[0]);
	fence_close(&f[1]);
}

static void open_much(void *arg, void *answer)
{
	struct fence f;

	(void)answer;
	fence_open(&f, arg, INT64_MAX / 2, sizeof(float));
}

static void test_no_memory(void)
{
	ok(in_cell(open_much, (void *)"too much") == CELL_OOM,
	   "no memory ends the program as such");
}

int main(void)
{
	test_size(1);
	test_size(288);
	test_size(1024);
	test_size(3000);
	test_inherit();
	test_replace();
	test_no_memory();
	return done_testing();
}
