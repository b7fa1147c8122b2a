#include "lib/report/page.h"

#include <math.h>
#include <string.h>

#include "lib/io/record.h"
#include "lib/io/terminal.h"
#include "lib/report/plot.h"
#include "lib/report/summary.h"
#include "lib/report/svg.h"

enum page_form page_form(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (dot && (!strcmp(dot, ".html") || !strcmp(dot, ".htm")))
		return PAGE_HTML;
	return dot && !strcmp(dot, ".md") ? PAGE_MARKDOWN : PAGE_UNKNOWN;
}

/* When the results came, and when the report was made. */
static void dates(const struct figures *f, struct buf *out)
{
	char now[25];

	rec_now(now);
	if (f->first_at)
		buf_fmt(out, "Measured %.16s to %.16s UTC. ", f->first_at, f->last_at);
	buf_fmt(out, "This report was made %.16s UTC.", now);
}

static void probe(const struct figures *f, struct buf *out)
{
	const struct machine *v = &f->env;

	if (isnan(v->peak))
		return;
	buf_fmt(out,
		"%lld threads: %.0f GFLOP/s; %.0f GB/s from L1, %.0f from L2, %.0f from L3, "
		"%.0f from memory",
		(long long)v->threads, v->peak / 1e9, v->bandwidth[LEVEL_L1] / 1e9,
		v->bandwidth[LEVEL_L2] / 1e9, v->bandwidth[LEVEL_L3] / 1e9,
		v->bandwidth[LEVEL_MEM] / 1e9);
}

/* ---- HTML ---- */

static const char style[] =
	":root{color-scheme:light dark;--page:#fff;--text:#1b1f24;--soft:#57606a;--line:#d9dee5}\n"
	"@media(prefers-color-scheme:dark){:root{--page:#0d1117;--text:#e6edf3;--soft:#9aa5b1;"
	"--line:#2d343d}}\n"
	"body{margin:0 auto;padding:16px;max-width:1120px;background:var(--page);color:var(--text);"
	"font:15px/1.5 system-ui,sans-serif}\n"
	"h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}\n"
	"p.soft,figcaption,footer{color:var(--soft);font-size:.9em}\n"
	"figure{margin:1em 0;max-width:620px}figure svg{width:100%;height:auto;display:block}\n"
	".table{overflow-x:auto}\n"
	"table{border-collapse:collapse;font-size:.85em}\n"
	"th,td{padding:3px 8px;text-align:left;white-space:nowrap;"
	"border-bottom:1px solid var(--line)}\n"
	"th.n,td.n{text-align:right;font-variant-numeric:tabular-nums}\n"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 12px;font-size:.9em}\n"
	"dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}\n"
	"@media print{body{max-width:none}figure,tr{break-inside:avoid}.table{overflow:visible}}\n";

static void element(struct buf *out, const char *tag, const struct buf *text)
{
	if (!text->n)
		return;
	buf_fmt(out, "<%s>", tag);
	xml_text(out, text->s);
	buf_fmt(out, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

static void paragraph(struct buf *out, const char *tag, const struct figures *f,
		      void (*text)(const struct figures *f, struct buf *out))
{
	struct buf b = BUF_INIT;

	text(f, &b);
	element(out, tag, &b);
	buf_free(&b);
}

static void figure(struct buf *out, const struct figures *f, enum plot p)
{
	const char *lacks = plot_lacks(p, f);

	buf_str(out, "<figure>\n");
	if (lacks)
		buf_fmt(out, "<p class=\"soft\">No plot: %s.</p>\n", lacks);
	else
		plot_svg(p, f, 0, out);
	buf_fmt(out, "<figcaption>%s</figcaption>\n</figure>\n", plot_caption(p));
}

static void html_row(struct buf *out, const struct figures *f, const struct report_line *l,
		     struct arena *a)
{
	struct buf cell = BUF_INIT;

	buf_str(out, "<tr>");
	for (int c = 0; c < SUMMARY_COLUMNS; c++) {
		buf_clear(&cell);
		buf_str(&cell, "");
		summary_cell(f, l, (enum summary_column)c, a, &cell);
		buf_str(out, summary_head[c][0] == '>' ? "<td class=\"n\">" : "<td>");
		xml_text(out, cell.s);
		buf_str(out, "</td>");
	}
	buf_str(out, "</tr>\n");
	buf_free(&cell);
}

static void html_table(struct buf *out, const struct figures *f)
{
	struct arena a = ARENA_INIT;

	buf_str(out, "<div class=\"table\"><table>\n<thead><tr>");
	for (int c = 0; c < SUMMARY_COLUMNS; c++) {
		int numbers = summary_head[c][0] == '>';

		buf_fmt(out, "<th%s>%s</th>", numbers ? " class=\"n\"" : "",
			summary_head[c] + numbers);
	}
	buf_str(out, "</tr></thead>\n<tbody>\n");
	for (int64_t i = 0; i < f->lines->n; i++)
		if (!f->lines->line[i].rank)
			html_row(out, f, &f->lines->line[i], &a);
	buf_str(out, "</tbody></table></div>\n");
	arena_free(&a);
}

static void html_env(struct buf *out, const struct figures *f)
{
	struct buf b = BUF_INIT;
	const char *name, *text;

	buf_str(out, "<dl>\n");
	for (int i = 0; (text = summary_env(f, i, &name)); i++) {
		buf_fmt(out, "<dt>%s</dt><dd>", name);
		xml_text(out, text);
		buf_str(out, "</dd>\n");
	}
	probe(f, &b);
	if (b.n)
		buf_fmt(out, "<dt>probe</dt><dd>%s</dd>\n", b.s);
	buf_str(out, "</dl>\n");
	buf_free(&b);
}

static void html_head(struct buf *out, const struct figures *f)
{
	struct buf b = BUF_INIT;

	buf_str(&b, "Tuning report: ");
	summary_of(f, &b);
	buf_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
	element(out, "title", &b);
	buf_fmt(out, "<style>\n%s%s</style>\n</head>\n<body>\n", svg_style(), style);
	element(out, "h1", &b);
	buf_free(&b);
}

void page_html(const struct figures *f, struct buf *out)
{
	html_head(out, f);
	paragraph(out, "p", f, summary_result);
	paragraph(out, "p class=\"soft\"", f, dates);
	figure(out, f, PLOT_OPERATORS);
	buf_str(out, "<h2>Operators</h2>\n");
	html_table(out, f);
	buf_str(out, "<p class=\"soft\">Speedups are of paired calls, with 95% intervals. "
		     "Roofline: the least time that the machine's probe allows, over the kernel's."
		     "</p>\n");
	figure(out, f, PLOT_ROOFLINE);
	buf_str(out, "<h2>How it came about</h2>\n");
	figure(out, f, PLOT_CONVERGENCE);
	buf_str(out, "<h2>What it cost</h2>\n");
	paragraph(out, "p", f, summary_cost);
	figure(out, f, PLOT_SAVINGS);
	buf_str(out, "<h2>Where</h2>\n");
	html_env(out, f);
	buf_str(out, "<footer>Made by tl-query " TL_VERSION ".</footer>\n</body>\n</html>\n");
}

/* ---- Markdown ---- */

/* No text is taken for HTML, a link or an image, and a bar does not end the cell. */
static void markdown_text(struct buf *out, const char *text)
{
	struct buf shown = BUF_INIT;

	terminal_text(text, strlen(text), &shown);
	for (const char *s = shown.s; *s; s++) {
		if (strchr("|\\<&[`", *s))
			buf_ch(out, '\\');
		buf_ch(out, *s);
	}
	buf_free(&shown);
}

static void markdown_table(struct buf *out, const struct figures *f)
{
	struct buf cell = BUF_INIT;
	struct arena a = ARENA_INIT;

	for (int c = 0; c < SUMMARY_COLUMNS; c++)
		buf_fmt(out, "| %s ", summary_head[c] + (summary_head[c][0] == '>'));
	buf_str(out, "|\n");
	for (int c = 0; c < SUMMARY_COLUMNS; c++)
		buf_str(out, summary_head[c][0] == '>' ? "|---:" : "|---");
	buf_str(out, "|\n");
	for (int64_t i = 0; i < f->lines->n; i++) {
		if (f->lines->line[i].rank)
			continue;
		for (int c = 0; c < SUMMARY_COLUMNS; c++) {
			buf_clear(&cell);
			buf_str(&cell, "");
			summary_cell(f, &f->lines->line[i], (enum summary_column)c, &a, &cell);
			buf_str(out, "| ");
			markdown_text(out, cell.s);
			buf_ch(out, ' ');
		}
		buf_str(out, "|\n");
	}
	buf_free(&cell);
	arena_free(&a);
}

static void markdown_costs(struct buf *out, const struct figures *f)
{
	if (!f->has_cost)
		return;
	buf_str(out, "\n## What it cost\n\n");
	summary_cost(f, out);
	buf_str(out, "\n\n| purpose | core-seconds |\n|---|---:|\n");
	for (int i = 0; i < COSTS; i++)
		if (f->cost.core_s[i] > 0)
			buf_fmt(out, "| %s | %.2f |\n", cost_name((enum cost)i), f->cost.core_s[i]);
}

void page_markdown(const struct figures *f, struct buf *out)
{
	const char *name, *text;

	buf_str(out, "# Tuning report: ");
	summary_of(f, out);
	buf_str(out, "\n\n");
	summary_result(f, out);
	buf_str(out, "\n\n");
	dates(f, out);
	buf_str(out, "\n\n## Operators\n\n");
	markdown_table(out, f);
	buf_str(out, "\nSpeedups are of paired calls, with 95% intervals. Roofline: the least time "
		     "that the machine's probe allows, over the kernel's.\n");
	markdown_costs(out, f);
	buf_str(out, "\n## Where\n\n");
	for (int i = 0; (text = summary_env(f, i, &name)); i++) {
		buf_fmt(out, "- %s: ", name);
		markdown_text(out, text);
		buf_ch(out, '\n');
	}
	buf_str(out, "- probe: ");
	probe(f, out);
	buf_ch(out, '\n');
}
