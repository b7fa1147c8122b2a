#include "lib/record/status.h"

#include <assert.h>
#include <string.h>

const struct record_word status_words[] = {
	[STATUS_OK] = {"ok", "it was built, verified and timed"},
	[STATUS_PREEMPTED] = {"preempted",
			      "it lost its duel with the incumbent, which stopped there"},
	[STATUS_BUILD] = {"build", "the compiler refused it"},
	[STATUS_TIMEOUT] = {"timeout", "it took too long, and was killed"},
	[STATUS_CRASH] = {"crash", "its process, or its kernel on a device, died, or ended before "
				   "it was done"},
	[STATUS_OOM] = {"oom", "it, or its compiler, ran out of memory"},
	[STATUS_WRONG] = {"wrong",
			  "its output differs from the reference by more than was allowed, is in "
			  "part unwritten or not finite, or something was written behind its end"},
	[STATUS_UNSUPPORTED] = {"unsupported", "this machine or algorithm cannot do it"},
	[STATUS_FILTERED] = {"filtered", "it was refused before it was built"},
	[STATUS_RECORDED] = {NULL, NULL},
	[STATUS_UNLOADABLE] = {"unloadable", "an object is damaged or gone"},
};

const char *status_name(enum status s)
{
	assert(s > STATUS_NONE && s < STATUS_FAILED && s != STATUS_RECORDED);
	return status_words[s].word;
}

enum status status_find(const char *name)
{
	enum status s = STATUS_OK;

	while (s < STATUS_RECORDED && strcmp(name, status_words[s].word) != 0)
		s++;
	return s < STATUS_RECORDED ? s : STATUS_NONE;
}

enum status status_get(const struct json_doc *d, const struct json *obj)
{
	const struct json *v = json_get(d, obj, "status");
	enum status s = STATUS_OK;

	while (s < STATUS_RECORDED && !json_is(v, status_words[s].word))
		s++;
	return s < STATUS_RECORDED ? s : STATUS_NONE;
}

enum status status_answered(const struct json_doc *answer)
{
	const struct json *v = json_get(answer, answer->tok, "status");

	return json_is(v, status_words[STATUS_UNLOADABLE].word) ? STATUS_UNLOADABLE
								: status_get(answer, answer->tok);
}

int status_is_timed(enum status s)
{
	return s == STATUS_OK || s == STATUS_PREEMPTED;
}

int status_may_pass(enum status s)
{
	return s == STATUS_TIMEOUT || s == STATUS_CRASH || s == STATUS_OOM;
}
