#include "lib/target/target.h"

#include <string.h>

const struct target *target_find(const char *name, size_t n)
{
	for (const struct target *const *t = target_list; *t; t++)
		if (strlen((*t)->name) == n && !memcmp((*t)->name, name, n))
			return *t;
	return NULL;
}

const struct target *target_default(void)
{
	return target_list[0];
}

const struct target *target_named(const char *name)
{
	return name ? target_find(name, strlen(name)) : target_default();
}

int target_is(const struct target *t, const struct target *wanted, struct err *e)
{
	if (t == wanted)
		return 0;
	return err_set(e, "it is a candidate for the target %s, not %s (--target=%s)", t->name,
		       wanted->name, t->name);
}

int target_limits(const struct target *t, const char *arch, struct limits *m, struct err *e)
{
	if (!arch)
		return t->limits(m, e);
	if (t->isa_limits(arch, m) < 0)
		return err_status(e, EXIT_USAGE, "target %s has no architecture \"%s\"", t->name,
				  arch);
	return 0;
}

int target_isa_limits(const char *isa, struct limits *m)
{
	for (const struct target *const *t = target_list; *t; t++)
		if ((*t)->isa_limits(isa, m) == 0)
			return 0;
	return -1;
}

void target_command(const struct target *t, const char *isa, struct buf *out)
{
	char *argv[TARGET_ARGS];

	t->compile(isa, "", "", argv);
	for (int i = 0; argv[i]; i++) {
		buf_str(out, argv[i]);
		buf_ch(out, ' ');
	}
}
