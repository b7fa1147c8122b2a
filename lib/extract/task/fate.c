#include "lib/extract/task/fate.h"

const char *fate_name(enum fate f)
{
	static const char *const names[] = {"workload", "fused", "constant", "none"};

	return names[f];
}

int fate_is_plumbing(const struct graph *g, const struct graph_node *n)
{
	for (int i = 0; i < n->nout; i++) {
		const struct value *v = node_out(g, n, i);

		if (v && !v->is_const && !v->kept)
			return 0;
	}
	return n->nout > 0;
}

void fates_find(struct fates *f, const struct graph *g, int64_t times, const struct task *t, int n,
		const unsigned char *absorbed, struct arena *a)
{
	*f = (struct fates){.g = g,
			    .of = arena_array(a, enum fate, g->nnode + 1),
			    .task = arena_array(a, const struct task *, g->nnode + 1),
			    .macs = arena_array(a, int64_t, g->nnode + 1),
			    .times = times};
	for (int i = n; i-- > 0;) {
		f->task[t[i].node] = &t[i];
		f->macs[t[i].node] = task_plus(f->macs[t[i].node], task_times(t[i].macs, times));
	}
	for (int i = 0; i < g->nnode; i++)
		f->of[i] = f->task[i]	 ? (f->task[i]->why ? FATE_NONE : FATE_WORKLOAD)
			   : absorbed[i] ? FATE_FUSED
			   : fate_is_plumbing(g, &g->node[i]) ? FATE_CONSTANT
							      : FATE_NONE;
}
