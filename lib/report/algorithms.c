#include "lib/report/algorithms.h"

#include <string.h>

#include "lib/io/mdoc.h"
#include "lib/io/table.h"

static int is_told(const struct algorithms *which, const struct algo *a)
{
	return (!which->target || algo_suits(a, which->target)) &&
	       (!which->name || !strcmp(a->name, which->name));
}

static void put_table(struct table *t, struct buf *out)
{
	table_text(t, out);
	table_free(t);
}

void algorithms_table(const struct algorithms *which, struct buf *out)
{
	static const char *const head[] = {"algorithm", ">knobs", "summary"};
	struct table t;

	table_init(&t, head, 3);
	for (const struct algo *const *a = algo_list; *a; a++) {
		if (!is_told(which, *a))
			continue;
		table_row(&t);
		table_cell(&t, 0, "%s", (*a)->name);
		table_cell(&t, 1, "%d", (*a)->nknobs);
		table_cell(&t, 2, "%s", (*a)->summary);
	}
	put_table(&t, out);
}

void algorithms_knobs(const struct algorithms *which, struct buf *out)
{
	static const char *const head[] = {"algorithm", "knob", ">frozen", "meaning"};
	struct table t;

	table_init(&t, head, 4);
	for (const struct algo *const *a = algo_list; *a; a++)
		for (int i = 0; is_told(which, *a) && i < (*a)->nknobs; i++) {
			table_row(&t);
			table_cell(&t, 0, "%s", (*a)->name);
			table_cell(&t, 1, "%s", (*a)->knob[i].name);
			table_cell(&t, 2, "%lld", (long long)(*a)->knob[i].frozen);
			table_cell(&t, 3, "%s", (*a)->knob[i].help);
		}
	put_table(&t, out);
}

void algorithms_manual(struct buf *out)
{
	buf_str(out, "@ALGORITHMS@\n.Bl -tag -width Ds\n");
	for (const struct algo *const *a = algo_list; *a; a++) {
		buf_fmt(out, ".It Li %s\n", (*a)->name);
		mdoc_text((*a)->summary, out);
		buf_str(out, ".Bl -tag -width streams -compact\n");
		for (int i = 0; i < (*a)->nknobs; i++) {
			const struct knob *k = &(*a)->knob[i];

			buf_fmt(out, ".It Li %s Pq %lld\n", k->name, (long long)k->frozen);
			mdoc_text(k->help, out);
		}
		buf_str(out, ".El\n");
	}
	buf_str(out, ".El\n");
}
