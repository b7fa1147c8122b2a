/* Two steps with the same weights: these are packed once, for the kernel of each and for a rival.
 */
#include <string.h>

#include "lib/run/network.h"
#include "tests/tap.h"

/* The memory of each operand that is packed, of the kernel i. */
static int packed(const struct plan *p, int i)
{
	const struct step *s = plan_kernel_at(p, i);

	for (int k = 0; s->workload && k < s->nslots; k++)
		if (s->operand[k].memory >= 0 && p->memory[s->operand[k].memory].is_const)
			return s->operand[k].memory;
	return -1;
}

int main(void)
{
	const struct network_options o = {.model = "none", .threads = 2};
	struct err e = ERR_INIT;
	struct network n = {0};
	int first = -1, same = 1, kernels = 0;

	if (network_open(&n, "tests/run/cases/shared_weights.onnx", &o, &e)) {
		ok(0, "the network opens: %s", e.msg);
		network_close(&n);
		return done_testing();
	}
	for (int i = 0; i < plan_count_kernels(&n.plan); i++) {
		const int m = packed(&n.plan, i);

		if (m < 0)
			continue;
		kernels++;
		same &= first < 0 || m == first;
		first = m;
	}
	ok(kernels == 2 && same, "%d kernels, the same packed weights", kernels);
	ok((int)n.plan.packed.n == 2, "weights and bias are packed once: %d", (int)n.plan.packed.n);
	network_close(&n);
	return done_testing();
}
