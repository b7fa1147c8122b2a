/* The report card of a model: what it was trained on, what was chosen, and how well it ranks the
 * held-out groups. The model's first line has it as JSON; tl-train prints it as a table.
 */
#ifndef TL_MODEL_CARD_H
#define TL_MODEL_CARD_H

#include "lib/io/table.h"
#include "lib/model/automl.h"
#include "lib/model/model.h"
#include "lib/model/score.h"

struct card {
	/* From card_count(): */
	const struct feature_list *features;
	int64_t candidates, workloads;
	struct map families, networks, envs; /* names */
	int nmachines;			     /* kinds of them */
	struct model_machine machine[MODEL_MACHINES];
	/* From training: */
	enum automl_unit unit; /* what the folds held out as a whole */
	int folds;
	struct score model, draft;	   /* of what was held out; no groups: nothing could be */
	int64_t errors, within;		   /* errors near the best; those within 2 deviations */
	int ncpus;			   /* each of them left out in turn; 0: there are too few */
	struct score abroad, draft_abroad; /* of the CPUs left out */
	struct automl chosen;
	int64_t tried; /* configurations */
	int bag;
	uint64_t seed;
	double seconds;
	struct buf failure; /* JSON, a comma before it: see lib/model/failure.h */
};

/* Counts the groups with use[i] != 0. */
void card_count(struct card *c, const struct dataset *d, const char *use);
/* The fields. */
void card_print(const struct card *c, struct buf *out);
void card_table(const struct card *c, const struct table_look *look, struct buf *out);
/* A sentence if the ranking is no better than chance, or if nothing was held out; else NULL. */
const char *card_warning(const struct card *c, struct buf *text);
void card_free(struct card *c);

#endif
