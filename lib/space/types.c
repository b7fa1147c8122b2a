#include "lib/space/types.h"

#include <assert.h>
#include <string.h>

static const char *const dtypes[DTYPES] = {"f32"};
static const char *const layouts[LAYOUTS] = {"nhwc", "nchw", "ab"};
static const char *const posts[POSTS] = {"bias", "add", "relu", "relu6"};

static int find(const char *const *names, int count, const char *s, unsigned long n)
{
	for (int i = 0; i < count; i++)
		if (strlen(names[i]) == n && !memcmp(names[i], s, n))
			return i;
	return -1;
}

const char *dtype_name(enum dtype d)
{
	assert(d < DTYPES);
	return dtypes[d];
}

const char *layout_name(enum layout l)
{
	assert(l < LAYOUTS);
	return layouts[l];
}

const char *post_name(enum post p)
{
	assert(p < POSTS);
	return posts[p];
}

int dtype_find(const char *s, unsigned long n)
{
	return find(dtypes, DTYPES, s, n);
}

int layout_find(const char *s, unsigned long n)
{
	return find(layouts, LAYOUTS, s, n);
}

int post_find(const char *s, unsigned long n)
{
	return find(posts, POSTS, s, n);
}

int dtype_size(enum dtype d)
{
	assert(d == DTYPE_F32);
	return 4;
}
