/* The id of the settings that change the results of measurements. Results of other settings are not
 * known results (--skip-known).
 *
 * Over the canonical text (lib/space/key.h) of: cache (warm, cold or weights-cold), max_error,
 * memory (as asked for; "half" by default), preempt, race_s, rev, seed, timeout_s, tl,
 * type=settings. Real numbers stand as text with 9 digits. rev is SETTINGS_REV: raise it when the
 * rules of verifying, races or finals change so that results would differ. Settings that only
 * decide how many candidates are measured, or what is recorded (--final, --audit, --samples,
 * --jobs), are not part of it.
 */
#ifndef TL_MEASURE_SETTINGS_H
#define TL_MEASURE_SETTINGS_H

#include "lib/measure/run.h"

enum { SETTINGS_REV = 3 };

void settings_text(const struct measure_rules *r, struct buf *out);
void settings_id(const struct measure_rules *r, struct id *id);

#endif
