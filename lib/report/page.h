/* A tuning report for people: a page of HTML that needs nothing else, or Markdown. */
#ifndef TL_REPORT_PAGE_H
#define TL_REPORT_PAGE_H

#include "lib/report/figures.h"

enum page_form { PAGE_HTML, PAGE_MARKDOWN, PAGE_UNKNOWN };

/* By the end of the file's name: .html and .htm, .md. */
enum page_form page_form(const char *path);
void page_html(const struct figures *f, struct buf *out);
void page_markdown(const struct figures *f, struct buf *out);

#endif
