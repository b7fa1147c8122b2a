/* The statuses: their names, and what is said of them elsewhere in other words. */
#include <stdio.h>
#include <string.h>

#include "lib/record/status.h"
#include "tests/tap.h"

static enum status status_in(const char *text, enum status get(const struct json_doc *d))
{
	struct json_doc d = JSON_DOC_INIT;
	enum status s = json_parse(&d, text, strlen(text), NULL) ? STATUS_FAILED : get(&d);

	json_free(&d);
	return s;
}

static enum status recorded(const struct json_doc *d)
{
	return status_get(d, d->tok);
}

static void test_names(void)
{
	char text[64];

	for (enum status s = STATUS_OK; s < STATUS_RECORDED; s++) {
		snprintf(text, sizeof text, "{\"status\":\"%s\"}", status_name(s));
		ok(status_find(status_name(s)) == s && status_in(text, recorded) == s &&
			   status_in(text, status_answered) == s && status_words[s].meaning,
		   "%s is found by its name, in records and in answers", status_name(s));
	}
	ok(!status_find("") && !status_find("okay") && !status_find("o") && !status_find("OK") &&
		   !status_in("{}", recorded) && !status_in("{\"status\":null}", recorded) &&
		   !status_in("{\"status\":[\"ok\"]}", recorded) && !status_in("[]", recorded),
	   "what is not a name is no status");
	ok(status_in("{\"status\":\"\\u006fk\"}", recorded) == STATUS_OK, "escapes are undone");
}

static void test_answers(void)
{
	const char text[] = "{\"status\":\"unloadable\"}";

	ok(status_in(text, status_answered) == STATUS_UNLOADABLE && !status_find("unloadable") &&
		   !status_in(text, recorded),
	   "unloadable stands in answers alone");
	ok(!status_in("{\"baseline\":null}", status_answered), "an answer may have none");
}

int main(void)
{
	test_names();
	test_answers();
	return done_testing();
}
