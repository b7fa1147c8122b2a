#include "lib/extract/graph/names.h"

#include <string.h>

void names_count(const struct graph *g, struct arena *a, struct map *names)
{
	for (int i = 0; i < g->nnode; i++) {
		const char *name = g->node[i].name;
		void **place;

		if (!name[0])
			continue;
		place = map_put(names, name, strlen(name), NULL);
		if (!*place)
			*place = arena_new(a, int);
		++*(int *)*place;
	}
}

const char *names_of(const struct graph *g, const struct graph_node *n, const struct map *names,
		     struct arena *a)
{
	const int *count = map_get(names, n->name, strlen(n->name));

	if (count && *count == 1)
		return n->name;
	return arena_printf(a, "%s%s%s", n->name, n->name[0] ? "#" : "",
			    n->nout && n->out[0] >= 0 ? g->value[n->out[0]]->name : "");
}

void names_tell_apart(struct graph *g)
{
	struct map names = MAP_INIT;

	names_count(g, g->a, &names);
	for (int i = 0; i < g->nnode; i++) {
		struct graph_node *n = &g->node[i];

		if (n->name[0])
			n->name = names_of(g, n, &names, g->a);
		for (int k = 0; k < n->nattr; k++)
			if (n->attr[k].subgraph)
				names_tell_apart(n->attr[k].subgraph);
	}
	map_free(&names);
}
