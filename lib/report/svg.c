#include "lib/report/svg.h"

#include <string.h>

#include "lib/io/terminal.h"

void xml_text(struct buf *out, const char *text)
{
	struct buf shown = BUF_INIT;

	terminal_text(text, strlen(text), &shown);
	for (const char *s = shown.s; *s; s++) {
		if (*s == '&')
			buf_str(out, "&amp;");
		else if (*s == '<')
			buf_str(out, "&lt;");
		else if (*s == '>')
			buf_str(out, "&gt;");
		else if (*s == '"')
			buf_str(out, "&quot;");
		else
			buf_ch(out, *s);
	}
	buf_free(&shown);
}

const char *svg_style(void)
{
	return "svg{--ink:#1b1f24;--faint:#6b7480;--grid:#d9dee5;--baseline:#98a2b0;"
	       "--tuned:#1f6feb;--saved:#2da44e;--back:#ffffff;"
	       "font:11px system-ui,sans-serif}\n"
	       "@media(prefers-color-scheme:dark){svg{--ink:#e6edf3;--faint:#9aa5b1;--grid:#2d343d;"
	       "--baseline:#6e7a89;--tuned:#58a6ff;--saved:#3fb950;--back:#0d1117}}\n"
	       "svg text{fill:var(--ink)}svg text.faint{fill:var(--faint)}\n"
	       "svg text.small{font-size:9px}\n"
	       "svg line,svg path{fill:none;stroke:var(--grid);stroke-width:1}\n"
	       "svg .back{fill:var(--back)}\n"
	       "svg line.axis{stroke:var(--faint)}\n"
	       "svg path.tuned,svg line.tuned{stroke:var(--tuned);stroke-width:2}\n"
	       "svg line.baseline{stroke:var(--baseline);stroke-width:1.5;stroke-dasharray:5 4}\n"
	       "svg path.roof{stroke:var(--faint);stroke-width:1.5}\n"
	       "svg rect.baseline{fill:var(--baseline)}svg rect.tuned{fill:var(--tuned)}\n"
	       "svg rect.saved{fill:var(--saved)}\n"
	       "svg circle.baseline{fill:none;stroke:var(--baseline);stroke-width:1.2}\n"
	       "svg circle.tuned{fill:var(--tuned)}\n";
}

void svg_open(struct buf *out, int width, int height, const char *title, int alone)
{
	if (alone)
		buf_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	buf_fmt(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\"",
		width, height);
	if (alone)
		buf_fmt(out, " width=\"%d\" height=\"%d\"", 2 * width, 2 * height);
	buf_str(out, ">\n<title>");
	xml_text(out, title);
	buf_str(out, "</title>\n");
	if (!alone)
		return;
	buf_fmt(out, "<style>%s</style>\n", svg_style());
	svg_rect(out, 0, 0, width, height, "back", NULL);
}

void svg_close(struct buf *out)
{
	buf_str(out, "</svg>\n");
}

void svg_text(struct buf *out, double x, double y, enum svg_anchor anchor, const char *class,
	      const char *text)
{
	static const char *const name[] = {"start", "middle", "end"};

	buf_fmt(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y,
		name[anchor], class);
	xml_text(out, text);
	buf_str(out, "</text>\n");
}

void svg_line(struct buf *out, double x0, double y0, double x1, double y1, const char *class)
{
	buf_fmt(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x0,
		y0, x1, y1, class);
}

/* Ends an element: what a pointer on it shows, and its end. */
static void close_shape(struct buf *out, const char *name, const char *hint)
{
	if (!hint) {
		buf_str(out, "/>\n");
		return;
	}
	buf_str(out, "><title>");
	xml_text(out, hint);
	buf_fmt(out, "</title></%s>\n", name);
}

void svg_rect(struct buf *out, double x, double y, double width, double height, const char *class,
	      const char *hint)
{
	buf_fmt(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"", x,
		y, width, height, class);
	close_shape(out, "rect", hint);
}

void svg_circle(struct buf *out, double x, double y, double radius, const char *class,
		const char *hint)
{
	buf_fmt(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" class=\"%s\"", x, y, radius,
		class);
	close_shape(out, "circle", hint);
}

void svg_path_open(struct buf *out, const char *class)
{
	buf_fmt(out, "<path class=\"%s\" d=\"M", class);
}

void svg_path_to(struct buf *out, double x, double y)
{
	buf_fmt(out, " %.1f %.1f", x, y);
}

void svg_path_close(struct buf *out)
{
	buf_str(out, "\"/>\n");
}
