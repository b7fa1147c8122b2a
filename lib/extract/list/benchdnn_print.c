/* Workloads as command lines of benchdnn. */
#include "lib/extract/list/benchdnn.h"
#include "lib/extract/list/onednn.h"

int benchdnn_print(const struct workload *w, const char *name, int64_t count, struct buf *out)
{
	int bias = workload_has_post(w, POST_BIAS);
	struct buf posts = BUF_INIT;

	/* It takes one number for all channels, or a file. */
	if (workload_has_post(w, POST_SCALE) || workload_has_post(w, POST_SHIFT) ||
	    workload_has_post(w, POST_PAD) || workload_group(w))
		return -1;
	if (w->op == &op_conv2d || w->op == &op_conv3d) {
		int last = w->layout == LAYOUT_NHWC || w->layout == LAYOUT_NDHWC;
		const char *tag = last ? "axb" : "abx";

		buf_fmt(out, "--conv --reset --dir=%s --stag=%s --dtag=%s",
			bias ? "FWD_B" : "FWD_I", tag, tag);
	} else if (w->op == &op_matmul) {
		buf_fmt(out, "--matmul --reset --wtag=%s", w->rhs_const ? "any" : "abx");
		if (bias)
			buf_fmt(out, " --bia_dt=f32 --bia_mask=%d", w->dim[MATMUL_B] > 1 ? 4 : 2);
	} else {
		return -1;
	}
	if (!dtypes_are_f32(&w->dtype))
		buf_fmt(out, " --dt=%s", w->dtype_text);
	onednn_posts_print(w, &posts);
	if (posts.n)
		buf_fmt(out, " --attr-post-ops=%s", posts.s);
	buf_fmt(out, " %sn\"%s", w->prob, name);
	if (count > 1)
		buf_fmt(out, "*%lld", (long long)count);
	buf_ch(out, '"');
	buf_free(&posts);
	return 0;
}
