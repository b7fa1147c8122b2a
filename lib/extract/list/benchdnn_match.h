/* The patterns of benchdnn's --match: letters, '.', sets [^0-9], and '*', '+' and '?' behind one of
 * these; '\' takes the next letter as it is. They match a whole text. */
#ifndef TL_EXTRACT_LIST_BENCHDNN_MATCH_H
#define TL_EXTRACT_LIST_BENCHDNN_MATCH_H

/* 1 or 0; -1: the pattern has other signs, such as ( and |, or is too long. */
int benchdnn_match(const char *pattern, const char *text);

#endif
