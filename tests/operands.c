/* Operands of the processor's kernels: those in other types than single precision are copied
 * between guards, and come back as floats. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/target/kernel_operands.h"
#include "lib/trial/cell.h"
#include "tests/tap.h"

enum { N = 100 };

static float x[N], y[N], z[N];
static void *const buffers[] = {x, y, z};
static const size_t bytes[] = {sizeof x, sizeof y, sizeof z};
static const enum elem elem[] = {ELEM_BF16, ELEM_F32, ELEM_BF16};

static void write_byte(void *place, void *answer)
{
	(void)answer;
	*(volatile char *)place = 1;
}

/* Does a write at this byte of the copy kill? */
static int dies(uint16_t *copy, int64_t at)
{
	const struct cell cell = {.timeout_s = 60, .threads = 1};
	struct cell_fault fault;
	char why[CELL_WHY], answer;

	return cell_run(&cell, write_byte, (char *)copy + at, &answer, 1, &fault, why) ==
	       CELL_CRASH;
}

int main(void)
{
	struct kernel k = {0};
	struct err e = ERR_INIT;
	size_t size = 0;
	uint16_t *first, *last;
	float back[N];

	for (int i = 0; i < N; i++)
		x[i] = 1 + (float)i / 256;
	z[0] = NAN;
	z[1] = INFINITY;
	z[2] = -3e38F;
	ok(kernel_operands_put(&k, buffers, bytes,
			       (const enum elem[]){ELEM_F32, ELEM_F32, ELEM_F64}, 3, &e) == 0 &&
		   kernel_operands(&k, buffers) == buffers,
	   "operands in single and double precision stay where they are");
	ok(kernel_operands_put(&k, buffers, bytes, elem, 3, &e) == 0, "others are copied");
	first = kernel_operands(&k, buffers)[0];
	last = kernel_operands(&k, buffers)[2];
	ok(kernel_operands(&k, buffers)[1] == y && (void *)first != x, "and only these");
	ok(elem_read(ELEM_BF16, first, 1) == 1 && elem_read(ELEM_BF16, first, 3) == 1 + 4 / 256.,
	   "rounded to the nearest, ties to even");
	ok(isnan(elem_read(ELEM_BF16, last, 0)) && isinf(elem_read(ELEM_BF16, last, 1)) &&
		   isfinite(elem_read(ELEM_BF16, last, 2)),
	   "what is no number, or infinite, stays so");
	ok(kernel_operands_at(&k, 0, x, &size) == first && size == N * sizeof *first &&
		   kernel_operands_at(&k, 1, y, &size) == y,
	   "it is told where a kernel finds them");
	first[0] = 0x4040; /* 3 */
	ok(kernel_operands_take(&k, 0, back, sizeof back, &e) == 0 && back[0] == 3 && back[1] == 1,
	   "what a kernel wrote comes back as floats");
	ok(kernel_operands_take(&k, 1, back, sizeof back, &e) == 0 && back[0] == 3,
	   "of an operand that stays nothing does");
	first[N] = 0;
	errno = 0;
	ok(kernel_operands_take(&k, 0, back, sizeof back, &e) < 0 && errno == ERANGE &&
		   strstr(e.msg, "behind the end of operand 0"),
	   "a write behind its end is found");
	ok(kernel_operands_put(&k, buffers, bytes, elem, 3, &e) == 0 &&
		   kernel_operands(&k, buffers)[0] == first &&
		   kernel_operands_take(&k, 0, back, sizeof back, &e) == 0,
	   "operands may be put once more, into the same place");
	ok(dies(first, -1) && dies(first, 4096) && !dies(first, 0),
	   "to touch what lies before it, or beyond its page, kills");
	kernel_operands_free(&k);
	ok(!k.own, "all is given back");
	return done_testing();
}
