/* The prefix of all names in an exported library: of its functions, types, macros and files. */
#ifndef TL_EXPORT_PREFIX_H
#define TL_EXPORT_PREFIX_H

/* NULL: it makes names that C, C++ and the C library leave free. Otherwise what is wrong, for
 * "--prefix wants ...". */
const char *prefix_why(const char *prefix);

#endif
