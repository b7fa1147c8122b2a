#include "lib/base/nearest.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 63, FAR = 1000 };

static int least(int a, int b)
{
	return a < b ? a : b;
}

static int distance(const char *a, size_t n, const char *b, size_t m)
{
	int row[3][MOST + 1]; /* of the prefix before the last one, of the last one, of this one */

	if (n > MOST || m > MOST)
		return FAR;
	for (size_t j = 0; j <= m; j++)
		row[1][j] = (int)j;
	for (size_t i = 1; i <= n; i++) {
		row[2][0] = (int)i;
		for (size_t j = 1; j <= m; j++) {
			int same = a[i - 1] == b[j - 1];

			row[2][j] =
				least(row[1][j - 1] + !same, 1 + least(row[1][j], row[2][j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[2][j] = least(row[2][j], row[0][j - 2] + 1);
		}
		memcpy(row[0], row[1], sizeof row[0]);
		memcpy(row[1], row[2], sizeof row[1]);
	}
	return row[1][m];
}

void nearest_begin(struct nearest *s, const char *word, size_t n)
{
	*s = (struct nearest){.word = word, .n = n, .distance = FAR};
}

void nearest_try(struct nearest *s, const char *name)
{
	int d = distance(s->word, s->n, name, strlen(name));

	if (d >= s->distance || d == FAR)
		return;
	s->distance = d;
	snprintf(s->name, sizeof s->name, "%s", name);
}

/* A third of the word may be wrong, and at least a letter. */
static int is_near(const struct nearest *s)
{
	return s->distance <= (s->n < 6 ? 1 : (int)s->n / 3);
}

const char *nearest_hint(const struct nearest *s)
{
	static char text[MOST + 24];

	text[0] = 0;
	if (is_near(s))
		snprintf(text, sizeof text, "; did you mean %s?", s->name);
	return text;
}
