/* lib/io/json.c: what is JSON, what is not, and that no input does harm. */
#include <string.h>

#include "lib/base/rng.h"
#include "lib/io/json.h"
#include "tests/tap.h"

static struct json_doc doc;

/* Parses a copy without a NUL behind it, so that a sanitizer sees a read too far. */
static int parses(const char *s, size_t n)
{
	struct err e = ERR_INIT;
	char *copy = xmalloc(n);
	int rc;

	memcpy(copy, s, n);
	rc = json_parse(&doc, copy, n, &e);
	free(copy);
	return rc == 0;
}

static const char *const good[] = {
	"{}",
	"[]",
	" { } ",
	"[[],{},[{}]]",
	"0",
	"-0",
	"\"\"",
	"true",
	" null ",
	"1e5",
	"-1.5E-3",
	"[0,-1,1.0,1e+2]",
	"9007199254740991",
	"-9007199254740991",
	"1.7976931348623157e308",
	"5e-324",
	"0e999",
	"0.000e-999",
	"{\"a\":1,\"b\":{\"a\":2}}",
	"[{\"a\":1},{\"a\":1}]",
	"\"\\u00e9\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
	"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
	"{\"a\":\"b\",\"c\":[1,2,{\"d\":null}]}\r\n",
	"{\"\":1,\"a\":2,\"\\u0062\":3}",
	"\"\x7f\"",
	"[1 , 2\t,\n3 ]",
};

static const char *const bad[] = {
	"",
	" ",
	"{",
	"}",
	"[",
	"]",
	"[1",
	"{\"a\"",
	"{\"a\":",
	"{\"a\":1",
	"{\"a\":1,}",
	"[1,]",
	"[,1]",
	"[1 2]",
	"[1:2]",
	"{\"a\" 1}",
	"{\"a\",1}",
	"{\"a\":1 \"b\":2}",
	"{1:2}",
	"{a:1}",
	"{\"a\":1}}",
	"{\"a\":1}{",
	"{} {}",
	"[]]",
	"[}",
	"{]",
	"[{]}",
	"[\"a\"\"b\"]",
	"{\"a\":\"b\":\"c\"}",
	"{\"a\"::1}",
	"{\"a\":1,,\"b\":2}",
	"{\"a\":{}\"b\":1}",
	"{,}",
	"{\"a\":}",
	"{[]:1}",
	"{{}:1}",
	"1 2",
	"01",
	"-",
	"+1",
	"1.",
	".5",
	"1e",
	"1e+",
	"--1",
	"1.e5",
	"0x10",
	"1_000",
	"00",
	"-01",
	"1e5.5",
	"1-2",
	"NaN",
	"nan",
	"Infinity",
	"-Infinity",
	"inf",
	"tru",
	"truee",
	"True",
	"nul",
	"[nulll]",
	"[t]",
	"[tfn]",
	"'a'",
	"\"",
	"\"a",
	"\"\\",
	"\"\\\"",
	"\"\\x\"",
	"\"\\u\"",
	"\"\\u12\"",
	"\"\\u12g4\"",
	"\"\\ud800\"",
	"\"\\udc00\"",
	"\"\\ud800\\u0041\"",
	"\"\\ud800x\"",
	"\"\\ud800\\ud800\"",
	"\"a\nb\"",
	"\"a\tb\"",
	"\"\x1f\"",
	"\"\x80\"",
	"\"\xc0\xaf\"",
	"\"\xc1\xbf\"",
	"\"\xe0\x80\x80\"",
	"\"\xed\xa0\x80\"",
	"\"\xf4\x90\x80\x80\"",
	"\"\xf5\x80\x80\x80\"",
	"\"\xc3\"",
	"\"\xe2\x82\"",
	"\"\xf0\x9f\x98\"",
	"\"\xff\"",
	"{\"a\":1,\"a\":2}",
	"{\"a\":1,\"\\u0061\":2}",
	"{\"x\":{\"a\":1,\"b\":2,\"a\":3}}",
	"{\"\":1,\"\":2}",
	"9007199254740992",
	"-9007199254740992",
	"[99999999999999999999]",
	"123456789012345678901234567890",
	"1e309",
	"-1e400",
	"1e-400",
	"[1e99999999999999999999]",
	"/* */1",
	"[1]//",
	"\xef\xbb\xbf{}",
	"{\"a\":1};",
	"\v1",
	"[1\f]",
	"{\"a\":\x01}",
};

static void test_grammar(void)
{
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		ok(parses(good[i], strlen(good[i])), "good %zu is taken", i);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!parses(bad[i], strlen(bad[i])), "bad %zu is refused", i);
	ok(!parses("{\"a\":1\0}", 8), "a NUL byte is refused");
	ok(!parses("\"a\0b\"", 5), "a NUL byte in a string is refused");
}

static void test_size(void)
{
	struct buf b = BUF_INIT;
	int n = 1 << 20;

	for (int i = 0; i < n; i++)
		buf_ch(&b, '[');
	for (int i = 0; i < n; i++)
		buf_ch(&b, ']');
	ok(!parses(b.s, b.n), "a million brackets are refused, and at once");
	ok(!parses(b.s + n - 65, 130) && parses(b.s + n - 64, 128), "64 levels are the most");
	buf_clear(&b);
	buf_ch(&b, '{');
	for (int i = 0; i < 20000; i++)
		buf_fmt(&b, "\"k%d\":%d,", i, i);
	buf_str(&b, "\"z\":0}");
	ok(parses(b.s, b.n), "20001 keys are no matter");
	b.n -= 7;
	buf_str(&b, ",\"k77\":0}");
	ok(!parses(b.s, b.n), "nor is finding one of them again");
	buf_free(&b);
}

/* Cut, change and splice a record at random: nothing may crash, and what parses must survive its
 * canonical form. */
static void test_mutations(void)
{
	static const char seed[] =
		"{\"tl\":1,\"type\":\"x\",\"a\":[1,2.5e-3,{\"b\":\"c\\u00e9\\n\"}],"
		"\"n\":null,\"t\":true,\"s\":\"\xc3\xa9\",\"o\":{\"p\":{}}}";
	static const char alphabet[] = "{}[]:,\"\\u0123eE+-. tfn\x80\xc3\x01";
	struct buf first = BUF_INIT, second = BUF_INIT;
	struct err e = ERR_INIT;
	struct rng r;
	int parsed = 0, stable = 1;
	char s[sizeof seed + 1];

	rng_seed(&r, 1, "json");
	for (int i = 0; i < 200000; i++) {
		size_t n = sizeof seed - 1;
		char *copy;

		memcpy(s, seed, n);
		for (uint64_t k = rng_below(&r, 4); k--;)
			s[rng_below(&r, n)] = alphabet[rng_below(&r, sizeof alphabet - 1)];
		if (!rng_below(&r, 4))
			n = rng_below(&r, n) + 1;
		copy = xmalloc(n);
		memcpy(copy, s, n);
		if (!json_parse(&doc, copy, n, &e)) {
			parsed++;
			buf_clear(&first);
			buf_clear(&second);
			json_canonical(&doc, doc.tok, &first);
			stable &= !json_parse(&doc, first.s, first.n, &e);
			json_canonical(&doc, doc.tok, &second);
			stable &= first.n == second.n && !memcmp(first.s, second.s, first.n);
		}
		free(copy);
	}
	ok(parsed > 10000 && parsed < 190000, "mutations: %d of 200000 are JSON", parsed);
	ok(stable, "the canonical form of the canonical form is itself");
	buf_free(&first);
	buf_free(&second);
}

static void test_reading(void)
{
	static const char s[] =
		"{\"i\":-42,\"r\":1.5e-3,\"s\":\"a\\u00e9\\ud83d\\ude00\",\"t\":true,"
		"\"l\":[1,[2,3],{\"x\":4}],\"e\":[],\"nul\":\"a\\u0000\",\"long\":0."
		"30000000000000004}";
	const struct json *v, *rec;
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	const char *str = NULL;
	int64_t i = 7;
	double x = 7;
	int b = 7, n = 0;

	ok(!json_parse(&doc, s, sizeof s - 1, &e), "a record parses");
	rec = doc.tok;
	ok(!json_int(json_get(&doc, rec, "i"), &i) && i == -42, "json_int");
	ok(json_int(json_get(&doc, rec, "r"), &i) && i == -42, "json_int wants an integer");
	ok(!json_num(json_get(&doc, rec, "r"), &x) && x == 1.5e-3, "json_num is exact");
	ok(!json_num(json_get(&doc, rec, "long"), &x) && x == 0.30000000000000004,
	   "json_num is exact with 17 digits");
	ok(!json_bool(json_get(&doc, rec, "t"), &b) && b == 1, "json_bool");
	ok(!json_str(json_get(&doc, rec, "s"), &a, &str) &&
		   !strcmp(str, "a\xc3\xa9\xf0\x9f\x98\x80"),
	   "json_str decodes");
	ok(json_str(json_get(&doc, rec, "nul"), &a, &str) == -1, "json_str cuts nothing off");
	ok(json_is(json_get(&doc, rec, "s"), "a\xc3\xa9\xf0\x9f\x98\x80"),
	   "json_is undoes escapes");
	ok(!json_get(&doc, rec, "none") && !json_get(&doc, NULL, "i") && json_int(NULL, &i),
	   "what is not there is NULL all the way");
	v = json_get(&doc, rec, "l");
	for (const struct json *k = json_first(&doc, v); k; k = json_next(&doc, v, k))
		n++;
	ok(n == 3 && v->size == 3, "an array is walked over what its values hold");
	ok(!json_first(&doc, json_get(&doc, rec, "e")), "an empty array has no first value");
	arena_free(&a);
}

static void rewrites(const char *s, const struct json_field *f, int nf, const char *want)
{
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;

	if (json_parse(&doc, s, strlen(s), &e))
		bail_out("%s: %s", s, e.msg);
	json_rewrite(&doc, f, nf, &out);
	if (!ok(!strcmp(out.s, want), "rewrite to %s", want))
		diag("got %s", out.s);
	buf_free(&out);
}

static void test_rewriting(void)
{
	const struct json_field f[] = {{"b", "[9]"}, {"a", NULL}, {"new", "\"v\""}};
	struct buf out = BUF_INIT;
	struct err e = ERR_INIT;
	const char *s = " { \"a\\/b\" : \"\\u00e9\\u0001\\n\" , \"n\":[ 1.50, -0.0, 1E3, 100 ] } ";

	rewrites("{}", f, 3, "{\"b\":[9],\"new\":\"v\"}");
	rewrites("{\"a\":1}", f, 3, "{\"b\":[9],\"new\":\"v\"}");
	rewrites("{\"a\":1,\"b\":2}", f, 3, "{\"b\":[9],\"new\":\"v\"}");
	rewrites("{\"b\":\"x\", \"a\":{\"b\":1}, \"c\" : 3}", f, 3,
		 "{\"b\":[9], \"c\" : 3,\"new\":\"v\"}");
	rewrites("{ \"c\":1,\"a\":2 }", f, 3, "{ \"c\":1,\"b\":[9],\"new\":\"v\" }");
	rewrites("{ \"c\" : 1.50 }", f, 0, "{ \"c\" : 1.50 }");
	if (json_parse(&doc, s, strlen(s), &e))
		bail_out("%s", e.msg);
	json_canonical(&doc, doc.tok, &out);
	if (!ok(!strcmp(out.s, "{\"a/b\":\"\xc3\xa9\\u0001\\n\",\"n\":[1.5,0,1000,100]}"),
		"the canonical form"))
		diag("got %s", out.s);
	buf_free(&out);
}

int main(void)
{
	test_grammar();
	test_size();
	test_mutations();
	test_reading();
	test_rewriting();
	json_free(&doc);
	return done_testing();
}
