/* lib/base: what everything else rests on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/base/map.h"
#include "lib/base/number.h"
#include "lib/base/rng.h"
#include "lib/base/sort.h"
#include "lib/base/words.h"
#include "tests/tap.h"

static void test_buf(void)
{
	struct buf b = BUF_INIT;

	buf_int(&b, INT64_MIN);
	buf_ch(&b, ' ');
	buf_int(&b, INT64_MAX);
	ok(!strcmp(b.s, "-9223372036854775808 9223372036854775807"), "buf_int prints the extremes");
	buf_clear(&b);
	buf_int(&b, -1207);
	ok(!strcmp(b.s, "-1207"), "and what lies between");
	buf_clear(&b);
	buf_num(&b, 0.1);
	buf_ch(&b, ' ');
	buf_num(&b, NAN);
	buf_ch(&b, ' ');
	buf_num(&b, -INFINITY);
	ok(!strcmp(b.s, "0.1 null null"), "buf_num has no NaN and no infinity");
	buf_clear(&b);
	buf_json(&b, "a\"\\\n\x01", 5);
	ok(!strcmp(b.s, "\"a\\\"\\\\\\u000a\\u0001\""), "buf_json escapes");
	buf_clear(&b);
	buf_fmt(&b, "%0500d", 7);
	ok(b.n == 500 && strlen(b.s) == 500, "buf_fmt grows to what it prints");
	buf_free(&b);
}

static void test_arena(void)
{
	struct arena a = ARENA_INIT;
	int aligned = 1, zero = 1;

	for (int round = 0; round < 3; round++) {
		for (size_t n = 1; n < 3000; n += 7) {
			unsigned char *p = arena_alloc(&a, n);

			aligned &= ((uintptr_t)p & 15) == 0;
			for (size_t i = 0; i < n; i++)
				zero &= !p[i];
			memset(p, 0xff, n);
		}
		arena_reset(&a);
	}
	ok(aligned, "arena memory is aligned");
	ok(zero, "arena memory is zero, after a reset too");
	memset(arena_alloc(&a, 1 << 20), 1, 1 << 20);
	ok(!strcmp(arena_printf(&a, "%s-%d", "x", 5), "x-5"), "arena_printf behind a large block");
	arena_free(&a);
}

static void test_map(void)
{
	struct map m = MAP_INIT;
	char key[16];
	int isnew, news = 0, right = 1;

	for (int i = 0; i < 2000; i++) {
		snprintf(key, sizeof key, "k%d", i % 1000);
		*map_put(&m, key, strlen(key), &isnew) = (void *)(intptr_t)(i + 1);
		news += isnew;
	}
	ok(news == 1000 && m.n == 1000, "map_put tells old keys from new");
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof key, "k%d", i);
		right &= map_get(&m, key, strlen(key)) == (void *)(intptr_t)(i + 1001);
		right &= !strcmp(m.item[i].key, key);
	}
	ok(right, "map_get finds the last value, in order of insertion");
	ok(!map_get(&m, "k1000", 5) && !map_get(&m, "k1", 1), "map_get knows no other key");
	map_free(&m);
}

static void test_hash(void)
{
	struct id id;

	hash_id(&id, "abc", 3); /* FIPS 180-4's own example */
	ok(!strcmp(id.s, "ba7816bf8f01cfea414140de5dae2223"), "an id is half a SHA-256");
}

static void test_rng(void)
{
	struct rng a, b, c;
	int count[7] = {0}, same = 1, worst = 0, unit = 1, low = 0;

	rng_seed(&a, 42, NULL);
	rng_seed(&b, 42, NULL);
	rng_seed(&c, 42, "other");
	for (int i = 0; i < 100; i++)
		same &= rng_u64(&a) == rng_u64(&b);
	ok(same, "a seed means one sequence");
	ok(rng_u64(&a) != rng_u64(&c), "a stream separates its uses");
	for (int i = 0; i < 70000; i++) {
		double u = rng_unit(&a);

		count[rng_below(&a, 7)]++;
		unit &= u >= 0 && u < 1;
	}
	for (int i = 0; i < 7; i++)
		if (abs(count[i] - 10000) > worst)
			worst = abs(count[i] - 10000);
	ok(worst < 500, "rng_below is uniform");
	/* Of 3 x 2^62 values a third lies below 2^62; by the modulus alone it would be half. */
	for (int i = 0; i < 30000; i++)
		low += rng_below(&a, (uint64_t)3 << 62) < (uint64_t)1 << 62;
	ok(abs(low - 10000) < 500, "rng_below has no bias for large ranges");
	ok(unit, "rng_unit lies within [0, 1)");
}

static void test_sort(void)
{
	double x[] = {3, -1, INFINITY, 0, 3, 1e-300};
	const double want[] = {-1, 0, 1e-300, 3, 3, INFINITY};

	sort_numbers(x, 6);
	ok(!memcmp(x, want, sizeof want), "sort_numbers puts numbers into rising order");
}

static void test_err(void)
{
	struct err e = ERR_INIT;

	ok(err_set(&e, "bad %d", 3) == -1 && e.status == EXIT_INPUT, "err_set returns -1");
	err_in(&e, "line %d", 7);
	ok(!strcmp(e.msg, "line 7: bad 3"), "err_in puts the place before the sentence");
	ok(err_set(NULL, "nobody asks") == -1, "an error may go nowhere");
}

static void test_words(void)
{
	const char *text = "a log of oneDNN";

	ok(words_are("add sub  mul", "mul") && words_are("add sub", "add"), "a list has its words");
	ok(!words_are("add sub", "ad") && !words_are("add sub", "adds") &&
		   !words_are("add sub", ""),
	   "but no part of one, nothing longer, and not nothing");
	ok(!words_are("", "") && !words_are("  ", " "), "and an empty list has none");
	ok(words_have("add sub", "submarine", 3), "a word may stand in a longer text");
	ok(!words_are("add", "Add") && words_have_like("add", "ADD", 3), "capitals count, or not");
	ok(words_begin("aten:: mkl", "mkldnn") && !words_begin("aten:: mkl", "mk"),
	   "a text begins with a word");
	ok(words_in("DNN one log", text) == strstr(text, "DNN") && !words_in("MIOpen", text),
	   "the first word of the list that is in a text is found there");
}

static void test_numbers(void)
{
	static const char *const none[] = {"",	  " 1",	  "1 ",	 "+1",	  "-1",	 "inf",
					   "nan", "0x10", "0X1", "1e999", "1,5", "1.5.",
					   ".",	  ".e1",  "e1",	 "1e"};
	static const char *const no_whole[] = {"",   " 1", "1 ",  "+1",	 "-1",
					       "1.", "0x", "1e1", "1,5", "9223372036854775808"};
	const char *end;
	double x = 0;
	int64_t n = 0;

	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		ok(number_real(none[i], NULL, &x) < 0 && x == 0, "\"%s\" is no number", none[i]);
	for (size_t i = 0; i < sizeof no_whole / sizeof *no_whole; i++)
		ok(number_whole(no_whole[i], NULL, &n) < 0 && n == 0, "\"%s\" is no whole number",
		   no_whole[i]);
	ok(!number_real("1.5e-1", NULL, &x) && x == 0.15, "a number");
	ok(!number_real(".25s", &end, &x) && x == 0.25 && !strcmp(end, "s"), "with a unit");
	ok(!number_whole("9223372036854775807k", &end, &n) && n == INT64_MAX && *end == 'k',
	   "the largest whole number");
}

int main(void)
{
	test_numbers();
	test_buf();
	test_arena();
	test_map();
	test_hash();
	test_rng();
	test_sort();
	test_err();
	test_words();
	return done_testing();
}
