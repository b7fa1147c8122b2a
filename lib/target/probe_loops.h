/* The loops of the probe for one instruction set; probe.c includes this file once for each, with
 *
 *   NAME(x)  the function's name
 *   TARGET   what the compiler may use, as a function attribute
 *   VEC      the type of a vector, whose size divides 64 bytes
 *   REG      the constraint of a vector register
 *
 * The empty asm statements cost nothing: they make the compiler believe that each value is used and
 * may have been changed, so that it neither drops, merges nor vectorises what is timed.
 */
#define TOUCH(x) asm volatile("" : "+" REG(x))
#define USE(x) asm volatile("" ::REG(x))

/* Chains of multiply-adds that do not wait for each other. Where the instruction set has no FMA, a
 * multiplication and an addition. */
TARGET static void NAME(peak)(const struct probe_work *w, char *memory, long rounds)
{
	VEC a = {0}, b = a, c = a, d = a, f = a, g = a, h = a, i = a, j = a, k = a, l = a, m = a;
	VEC x = a + 0.5f, y = a + 0.25f;

	(void)w;
	(void)memory;
	TOUCH(x);
	TOUCH(y);
	for (; rounds > 0; rounds--) {
		a = a * x + y;
		b = b * x + y;
		c = c * x + y;
		d = d * x + y;
		f = f * x + y;
		g = g * x + y;
		h = h * x + y;
		i = i * x + y;
		j = j * x + y;
		k = k * x + y;
		l = l * x + y;
		m = m * x + y;
		asm volatile(""
			     : "+" REG(a), "+" REG(b), "+" REG(c), "+" REG(d), "+" REG(f),
			       "+" REG(g));
		asm volatile(""
			     : "+" REG(h), "+" REG(i), "+" REG(j), "+" REG(k), "+" REG(l),
			       "+" REG(m));
	}
}

TARGET static void NAME(read)(const struct probe_work *w, char *memory, long rounds)
{
	for (; rounds > 0; rounds--) {
		const VEC *p = (const VEC *)(void *)memory, *end = p + w->bytes / sizeof *p;

		for (; p < end; p += 8) {
			USE(p[0]);
			USE(p[1]);
			USE(p[2]);
			USE(p[3]);
			USE(p[4]);
			USE(p[5]);
			USE(p[6]);
			USE(p[7]);
		}
	}
}

/* a = b + s c, with the three side by side in the memory. */
TARGET static void NAME(triad)(const struct probe_work *w, char *memory, long rounds)
{
	const int64_t n = w->bytes / 3 / (int64_t)sizeof(VEC);
	VEC s = {0};

	TOUCH(s);
	for (; rounds > 0; rounds--) {
		VEC *a = (VEC *)(void *)memory;
		const VEC *b = a + n, *c = b + n;

		for (int64_t i = 0; i < n; i += 4) {
			a[i] = b[i] + s * c[i];
			a[i + 1] = b[i + 1] + s * c[i + 1];
			a[i + 2] = b[i + 2] + s * c[i + 2];
			a[i + 3] = b[i + 3] + s * c[i + 3];
		}
		asm volatile("" ::: "memory");
	}
}

#undef TOUCH
#undef USE
#undef NAME
#undef TARGET
#undef VEC
#undef REG
