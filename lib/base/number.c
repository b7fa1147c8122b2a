#include "lib/base/number.h"

#include <math.h>
#include <stdlib.h>

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int ends(const char *at, const char **end)
{
	if (!end)
		return !*at;
	*end = at;
	return 1;
}

int number_real(const char *s, const char **end, double *out)
{
	const int is_hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	char *at;
	double v;

	if (is_hex || !(is_digit(*s) || (*s == '.' && is_digit(s[1]))))
		return -1;
	v = strtod(s, &at);
	if (!isfinite(v) || !ends(at, end))
		return -1;
	*out = v;
	return 0;
}

int number_whole(const char *s, const char **end, int64_t *out)
{
	int64_t v = 0;

	if (!is_digit(*s))
		return -1;
	for (; is_digit(*s); s++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *s - '0', &v))
			return -1;
	if (!ends(s, end))
		return -1;
	*out = v;
	return 0;
}
