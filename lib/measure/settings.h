/* The id of the settings that change what a measurement comes to: results of other settings say
 * nothing about these (--skip-known).
 *
 * Over the canonical text (lib/space/key.h) of: cache (warm, cold or weights-cold), max_error,
 * memory (as asked for; "half" by default), preempt, race_s, rev, seed, timeout_s, tl,
 * type=settings. Real numbers stand as text with 9 digits. rev is SETTINGS_REV: raise it when the
 * rules of verifying, racing and finals change so that earlier results would not come again. What
 * only decides how many are measured, or told of (--final, --audit, --samples, --jobs), is no part
 * of it.
 */
#ifndef TL_MEASURE_SETTINGS_H
#define TL_MEASURE_SETTINGS_H

#include "lib/measure/run.h"

enum { SETTINGS_REV = 3 };

void settings_text(const struct measure_rules *r, struct buf *out);
void settings_id(const struct measure_rules *r, struct id *id);

#endif
