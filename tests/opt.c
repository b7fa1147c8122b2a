/* lib/io/opt.c: parsing, and that what it prints fits the table. Informative options and usage
 * errors end the process: those run this program again as a child. */
#include <string.h>

#include "lib/base/arena.h"
#include "lib/io/opt.h"
#include "lib/io/proc.h"
#include "tests/tap.h"

static int quiet, hidden;
static int64_t count;
static double ratio, timeout_s;
static const char *search, *output, *about;
static struct opt_list each;

static const struct opt opts[] = {
	{'n', "count", OPT_COUNT, &count, "N",
	 "How many. This text is long enough that it has to be wrapped, and more than once, at "
	 "eighty "
	 "columns. Default 5.",
	 NULL},
	{'q', "quiet", OPT_FLAG, &quiet, NULL, "Say nothing.", NULL},
	{0, "hidden", OPT_HIDDEN_FLAG, &hidden, NULL, NULL, NULL},
	{0, "ratio", OPT_REAL, &ratio, "X", "A ratio. Default 1.", NULL},
	{'t', "timeout", OPT_TIME, &timeout_s, "TIME", "When to stop. Default 1s.", NULL},
	{0, "search", OPT_ENUM, &search, "NAME", "How to search. Default random.", "random|grid"},
	OPTIONS_FOR("Results and topics"),
	{'o', "output", OPT_FILE, &output, "FILE", "Where to write.", NULL},
	{'e', "each", OPT_LIST, &each, "WORD", "May be given several times.", NULL},
	{0, "about", OPT_STRING, &about, "TOPIC", "What it's about: one of \"these\".", NULL},
	OPT_END,
};

static const struct program program = {
	"tl-demo", "make demonstrations", "[OPTION...] [FILE...]\n--quiet", opts, 0, 2, "file"};

/* A default that its help does not name: a table that must not start. */
static const struct opt untold[] = {
	{'n', "count", OPT_COUNT, &count, "N", "How many. Default 6.", NULL}, OPT_END};

static const struct program bad_program = {
	"tl-demo", "make demonstrations", "[OPTION...]", untold, 0, 0, "none"};

static struct arena words; /* getopt keeps pointers into what it is given */

static int parse(const char *const *args)
{
	char *argv[20] = {(char *)"tl-demo"};
	int n = 1;

	while (*args)
		argv[n++] = arena_strdup(&words, *args++);
	count = 5;
	ratio = timeout_s = 1;
	quiet = hidden = 0;
	search = "random";
	return n - opt_parse(&program, n, argv);
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_parse(void)
{
	ok(parse(ARGS("-n", "10k", "x")) == 1 && count == 10000, "k means thousand");
	ok(parse(ARGS("--count=3M")) == 0 && count == 3000000, "M means million");
	ok(parse(ARGS("-q", "a", "--ratio", "2.5", "b")) == 2 && quiet && ratio == 2.5,
	   "operands may stand between options");
	ok(parse(ARGS("--", "-q")) == 1 && !quiet, "-- ends the options");
	ok(parse(ARGS("-t", "5m", "--hidden")) == 0 && timeout_s == 300 && hidden, "minutes");
	ok(parse(ARGS("-t10ms")) == 0 && timeout_s == 10e-3, "milliseconds");
	ok(parse(ARGS("--sea=grid")) == 0 && !strcmp(search, "grid"), "a name may be abbreviated");
	ok(parse(ARGS("-e", "a", "-e", "b")) == 0 && each.n == 2 && !strcmp(each.item[1], "b"),
	   "a list grows");
}

static int runs_as(const char *what, const char *arg, const char *arg2, struct buf *out)
{
	char *argv[] = {(char *)"/proc/self/exe", (char *)what, (char *)arg, (char *)arg2, NULL};
	struct err e = ERR_INIT;

	buf_clear(out);
	return proc_run(argv, 20, 1 << 20, out, &e);
}

static int runs(const char *arg, const char *arg2, struct buf *out)
{
	return runs_as("--as-demo", arg, arg2, out);
}

static void test_usage(struct buf *out)
{
	static const char *const bad[][2] = {
		{"-n", "x"},
		{"-n", "-1"},
		{"-n", "9223372036854775808"},
		{"-n", "1kk"},
		{"-n", NULL},
		{"--count", NULL},
		{"-z", NULL},
		{"--zz", NULL},
		{"--Results", NULL},
		{"--quiet=3", NULL},
		{"--ratio", "-1"},
		{"--ratio", "inf"},
		{"--ratio", "nan"},
		{"--ratio", "0x3"},
		{"--ratio", " 3"},
		{"--ratio", "3 "},
		{"--ratio", "1,5"},
		{"--ratio", "."},
		{"-n", " 3"},
		{"-n", "0x3"},
		{"-t", "0x1s"},
		{"--ratio", ""},
		{"-t", "3d"},
		{"-t", "1e999s"},
		{"-t", "1e10s"},
		{"-t", "1e9h"},
		{"--search", "x"},
		{"--search", ""},
		{"--search", "random|grid"},
		{"--help-options=x", NULL},
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		int status = runs(bad[i][0], bad[i][1], out);

		if (!ok(status == EXIT_USAGE && !strncmp(out->s, "tl-demo: ", 9) &&
				strstr(out->s, "--help") && strchr(out->s, '\n')[1] == 0,
			"%s %s is a usage error of one line", bad[i][0],
			bad[i][1] ? bad[i][1] : ""))
			diag("%d: %s", status, out->s);
	}
}

static size_t widest(const char *s)
{
	size_t most = 0;

	for (size_t n; *s; s += n + (s[n] == '\n')) {
		n = strcspn(s, "\n");
		most = n > most ? n : most;
	}
	return most;
}

static void test_printing(struct buf *out)
{
	ok(runs("--help", NULL, out) == 0 && widest(out->s) <= 80, "--help fits 80 columns");
	for (const struct opt *o = opts; o->name; o++)
		ok(!strstr(out->s, o->name) == (o->kind == OPT_HIDDEN_FLAG), "--help and --%s",
		   o->name);
	ok(strstr(out->s, "[FILE...]\n   or: tl-demo --quiet\nMake demonstrations.\n") != NULL,
	   "it has a line for each use");
	ok(strstr(out->s, "\n\nResults and topics:\n  -o, --output=FILE") != NULL,
	   "and titles of groups");
	ok(strstr(out->s, "random, grid") != NULL, "--help lists the words");
	ok(runs_as("--as-bad-demo", "--version", NULL, out) != 0,
	   "a default that help does not name ends the program");
	ok(runs("-h", NULL, out) == 0 && strstr(out->s, "Usage: tl-demo"), "-h is --help");
	ok(runs("--version", NULL, out) == 0 &&
		   !strcmp(out->s, "tl-demo (Tensor Lathe) " TL_VERSION "\n"),
	   "--version");
	ok(runs("--help-man", NULL, out) == 0 &&
		   strstr(out->s, "\n.It Fl n , Fl -count Ns = Ns Ar N\n") &&
		   strstr(out->s, "\n.El\n.Pp\nResults and topics:\n.Bl -tag -width Ds\n"),
	   "--help-man is mdoc");
	ok(runs("--help-options", NULL, out) == 0 &&
		   !strncmp(out->s, "program\ttl-demo\tfiles\n", 22) &&
		   strstr(out->s, "\nvalue letter\tn\tcount\tN\t\t") &&
		   strstr(out->s, "\nvalue words\t\tsearch\tNAME\trandom grid\tHow to search\n") &&
		   strstr(out->s, "\nvalue letter many\te\teach\t"),
	   "--help-options is a table");
	ok(!strstr(out->s, "hidden") && !strstr(out->s, "Results"),
	   "without what nobody is to see");
}

int main(int argc, char **argv)
{
	struct buf out = BUF_INIT;

	if (argc > 1 && !strcmp(argv[1], "--as-demo"))
		return opt_parse(&program, argc - 1, argv + 1) > argc;
	count = 5;
	if (argc > 1 && !strcmp(argv[1], "--as-bad-demo"))
		return opt_parse(&bad_program, argc - 1, argv + 1) > argc;
	test_parse();
	test_usage(&out);
	test_printing(&out);
	buf_free(&out);
	return done_testing();
}
