/* The crew: each piece is worked on once, by as many threads as there are or fewer, and a session's
 * data do not depend on their number. */
#include <string.h>
#include <unistd.h>

#include "lib/trial/crew.h"
#include "lib/trial/tensors.h"
#include "tests/tap.h"

enum { PIECES = 1000 };

static void count(void *counts, int64_t first, int64_t end)
{
	for (int64_t i = first; i < end; i++)
		((int *)counts)[i]++;
}

static void test_pieces(int64_t n, int threads)
{
	int counts[PIECES] = {0}, once = 1;

	crew_run(NULL, threads, n, count, counts);
	for (int64_t i = 0; i < PIECES; i++)
		once &= counts[i] == (i < n);
	ok(once, "%lld pieces by %d threads, each once", (long long)n, threads);
}

struct meeting {
	int there, met;
};

/* Waits for another thread. */
static void meet(void *meeting, int64_t first, int64_t end)
{
	struct meeting *m = meeting;
	int ms = 0;

	(void)first, (void)end;
	__atomic_fetch_add(&m->there, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&m->there, __ATOMIC_SEQ_CST) < 2 && ms++ < 10000)
		usleep(1000);
	__atomic_fetch_add(&m->met, ms < 10000, __ATOMIC_SEQ_CST);
}

static void test_threads(void)
{
	struct meeting m = {0};

	crew_run(NULL, 2, 2, meet, &m);
	ok(m.met == 2, "two threads work at the same time");
}

static void test_data(void)
{
	enum { TEAMS = 2 };
	static const int threads[TEAMS] = {1, 3};
	struct fence tensor[TEAMS][TENSOR_ROLES] = {{{.map = NULL}}};
	struct fence fresh[TEAMS][TENSOR_ROLES] = {{{.map = NULL}}};
	const struct fence *src = &tensor[0][TENSOR_SRC], *wei = &tensor[0][TENSOR_WEIGHTS];
	struct err e = ERR_INIT;
	struct workload w;

	if (workload_from_text(&w, "matmul", "300x500:500x700", NULL, NULL, &e) < 0)
		bail_out("%s", e.msg);
	for (int k = 0; k < TEAMS; k++)
		tensors_open(&w, 1, NULL, threads[k], tensor[k], fresh[k]);
	ok(!memcmp(src->data, tensor[1][TENSOR_SRC].data, fence_bytes(src)) &&
		   !memcmp(wei->data, tensor[1][TENSOR_WEIGHTS].data, fence_bytes(wei)) &&
		   !memcmp(fresh[0][TENSOR_SRC].data, fresh[1][TENSOR_SRC].data, fence_bytes(src)),
	   "data are the same with 1 and 3 threads");
	ok(memcmp(src->data, fresh[0][TENSOR_SRC].data, fence_bytes(src)) &&
		   memcmp(src->data, wei->data, fence_bytes(src)),
	   "but not those of two tensors");
	for (int k = 0; k < TEAMS; k++)
		for (int i = 0; i < TENSOR_ROLES; i++) {
			fence_close(&tensor[k][i]);
			fence_close(&fresh[k][i]);
		}
}

int main(void)
{
	test_pieces(PIECES, 1);
	test_pieces(PIECES, 7);
	test_pieces(3, 8);
	test_pieces(1, 2);
	test_pieces(0, 2);
	test_pieces(PIECES, PIECES);
	test_threads();
	test_data();
	return done_testing();
}
