/* The writer of records: commas, nesting, reasons, and that what it writes is JSON that says the
 * same. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/io/field.h"
#include "tests/tap.h"

static struct buf out;

static void is(const char *want, const char *what)
{
	if (!ok(out.s && !strcmp(out.s, want), "%s", what))
		printf("# got  %s\n# want %s\n", out.s ? out.s : "nothing", want);
	buf_clear(&out);
}

static void test_values(void)
{
	field_text(&out, "a", "x");
	field_text(&out, "b", NULL);
	field_json(&out, "c", NULL);
	field_copy(&out, "d", NULL);
	is("\"a\":\"x\"", "fields stand without braces, and NULL is no field");
	field_object(&out, NULL);
	field_text(&out, "t", "\"\\\n\x01 h\xc3\xa4?");
	field_text(&out, "none", "");
	field_number(&out, "x", 0.1);
	field_number(&out, "nan", NAN);
	field_integer(&out, "i", -9007199254740991);
	field_flag(&out, "yes", 7);
	field_flag(&out, "no", 0);
	field_fmt(&out, "f", "%.2f", 1.0);
	field_json(&out, "j", "[{}]");
	buf_ch(&out, '}');
	is("{\"t\":\"\\\"\\\\\\u000a\\u0001 h\xc3\xa4?\",\"none\":\"\",\"x\":0.1,\"nan\":null,"
	   "\"i\":-9007199254740991,\"yes\":true,\"no\":false,\"f\":1.00,\"j\":[{}]}",
	   "values of each kind");
}

static void test_rewrite(void)
{
	static const char *const owned[] = {"gone", "a", NULL};
	static const char text[] =
		"{ \"gone\":1, \"a\" : \"x\",\"z\":{\"b\":[1]}  , \"last\":null }";
	struct json_doc d = JSON_DOC_INIT;
	struct buf set = BUF_INIT;

	ok(!json_parse(&d, text, sizeof text - 1, NULL), "an object");
	field_object(&set, NULL);
	field_rewrite(&d, &set, NULL, &out);
	is(text, "stays as it is where nothing is set");
	field_text(&set, "a", "\"y\"");
	field_object(&set, "z");
	field_integer(&set, "c", 2);
	buf_ch(&set, '}');
	field_flag(&set, "new", 1);
	field_rewrite(&d, &set, owned, &out);
	is("{\"a\" : \"\\\"y\\\"\",\"z\":{\"c\":2}  , \"last\":null,\"new\":true }",
	   "what is set replaces or follows, and what is owned and not set goes");
	buf_free(&set);
	json_free(&d);
}

static void test_nesting(void)
{
	const double v[] = {1, 2.5};

	field_record(&out, "run");
	field_object(&out, "o");
	buf_ch(&out, '}');
	field_list(&out, "l");
	field_object(&out, NULL);
	field_integer(&out, "i", 1);
	buf_ch(&out, '}');
	field_list(&out, NULL);
	buf_ch(&out, ']');
	field_text(&out, NULL, "{");
	field_integer(&out, NULL, 2);
	buf_ch(&out, ']');
	field_numbers(&out, "none", v, 0);
	field_numbers(&out, "some", v, 2);
	field_interval(&out, "ci", 1, 2);
	field_name(&out, "by");
	field_object(&out, NULL);
	buf_str(&out, "}}");
	is("{\"tl\":1,\"type\":\"run\",\"o\":{},\"l\":[{\"i\":1},[],\"{\",2],\"none\":[],"
	   "\"some\":[1,2.5],\"ci\":[1,2],\"by\":{}}",
	   "objects and lists in each other");
}

static void test_reasons(void)
{
	field_null(&out, "latency_s", "not \"timed\"");
	field_null(&out, "energy_J", "a");
	field_null(&out, "code_hash", "b");
	field_null(&out, "env", "c");
	is("\"latency_s\":null,\"latency_why\":\"not \\\"timed\\\"\",\"energy_J\":null,"
	   "\"energy_why\":\"a\",\"code_hash\":null,\"code_hash_why\":\"b\",\"env\":null,"
	   "\"env_why\":\"c\"",
	   "null has its reason beside it, under the name without its unit");
}

/* What was read is written as it stood, and what was printed is read as it was. */
static void test_copies(void)
{
	static const char text[] =
		"{\"s\":\"a\\u0062\",\"n\":1.50,\"l\":[1, 2],\"o\":{\"x\":null}}";
	struct json_doc d = JSON_DOC_INIT;
	int rc = json_parse(&d, text, strlen(text), NULL);

	field_object(&out, NULL);
	for (const struct json *k = rc ? NULL : json_first(&d, d.tok); k;
	     k = json_next(&d, d.tok, k)) {
		char key[8];

		snprintf(key, sizeof key, "%.*s", (int)k->n, k->s);
		field_copy(&out, key, k + 1);
	}
	buf_ch(&out, '}');
	is(text, "copies are the bytes that were there");
	field_object(&out, NULL);
	for (int c = 1; c < 256; c++) {
		char key[8], s[] = {'<', (char)(c < 128 ? c : ' '), '>', 0};

		snprintf(key, sizeof key, "k%d", c);
		field_text(&out, key, s);
	}
	buf_ch(&out, '}');
	rc = json_parse(&d, out.s, out.n, NULL);
	for (int c = 1; c < 256 && !rc; c++) {
		char key[8], s[] = {'<', (char)(c < 128 ? c : ' '), '>', 0};

		snprintf(key, sizeof key, "k%d", c);
		rc = !json_is(json_get(&d, d.tok, key), s);
	}
	ok(!rc, "any character comes back");
	json_free(&d);
	buf_clear(&out);
}

int main(void)
{
	test_values();
	test_rewrite();
	test_nesting();
	test_reasons();
	test_copies();
	buf_free(&out);
	return done_testing();
}
