#include "lib/store/schema.h"

/* Results are narrow, and the texts of their records stand apart, so that counting and sorting
 * read little. Ids are numbers here: within a workload's results both indexes then grow in one
 * place, which keeps inserting fast when there are many. */
static const char results[] =
	"CREATE TABLE workloads("
	"	num INTEGER PRIMARY KEY,"
	"	id TEXT NOT NULL UNIQUE,"
	"	op TEXT NOT NULL,"
	"	prob TEXT NOT NULL,"
	"	dtype TEXT NOT NULL,"
	"	layout TEXT NOT NULL,"
	"	post TEXT NOT NULL," /* bias,relu */
	"	flops INTEGER NOT NULL,"
	"	record TEXT NOT NULL," /* its fields as JSON, without braces, count and source */
	"	candidates INTEGER NOT NULL DEFAULT 0" /* see tally.h */
	") STRICT;"
	"CREATE INDEX workloads_op ON workloads(op);"
	"CREATE TABLE sources("
	"	workload INTEGER NOT NULL REFERENCES workloads,"
	"	source TEXT NOT NULL,"
	"	PRIMARY KEY(workload, source)"
	") STRICT, WITHOUT ROWID;"
	"CREATE TABLE envs("
	"	num INTEGER PRIMARY KEY,"
	"	id TEXT NOT NULL UNIQUE,"
	"	env TEXT" /* JSON */
	") STRICT;"
	"CREATE TABLE runs("
	"	num INTEGER PRIMARY KEY,"
	"	id TEXT NOT NULL UNIQUE,"
	"	env INTEGER REFERENCES envs"
	") STRICT;"
	/* since: when the candidate became the best known of its workload, or was confirmed as
	 * that. ratio: of a race, the incumbent's time over the candidate's; of a final, the
	 * baseline's. */
	"CREATE TABLE results("
	"	num INTEGER PRIMARY KEY,"
	"	workload INTEGER NOT NULL REFERENCES workloads,"
	"	candidate BLOB NOT NULL," /* the id's 16 bytes */
	"	env INTEGER NOT NULL REFERENCES envs,"
	"	run INTEGER NOT NULL REFERENCES runs,"
	"	final INTEGER NOT NULL," /* stage: 1 final, 0 race */
	"	status TEXT NOT NULL,"
	"	latency_s REAL,"
	"	baseline_s REAL,"
	"	core_s REAL,"
	"	at TEXT NOT NULL,"
	"	since TEXT,"
	"	ratio REAL"
	") STRICT;"
	"CREATE UNIQUE INDEX results_key ON results(workload, candidate, env, run, final);"
	"CREATE INDEX results_best ON results(workload, env, since DESC, final DESC, latency_s,"
	"	candidate) WHERE status = 'ok';"
	"CREATE TABLE records("
	"	num INTEGER PRIMARY KEY REFERENCES results,"
	"	record TEXT NOT NULL"
	") STRICT;"
	"CREATE TABLE tallies(" /* see tally.h */
	"	workload INTEGER NOT NULL REFERENCES workloads,"
	"	env INTEGER NOT NULL REFERENCES envs,"
	"	status TEXT NOT NULL,"
	"	results INTEGER NOT NULL,"
	"	candidates INTEGER NOT NULL,"
	"	core_us INTEGER NOT NULL,"
	"	PRIMARY KEY(workload, env, status)"
	") STRICT, WITHOUT ROWID;"
	"CREATE TABLE ends("
	"	num INTEGER PRIMARY KEY,"
	"	workload INTEGER NOT NULL REFERENCES workloads,"
	"	run INTEGER NOT NULL REFERENCES runs,"
	"	key BLOB NOT NULL," /* hash of the record in canonical form */
	"	drawn INTEGER, kept INTEGER, refused INTEGER, measured INTEGER,"
	"	preempted INTEGER, failed INTEGER, built INTEGER,"
	"	record TEXT NOT NULL"
	") STRICT;"
	"CREATE UNIQUE INDEX ends_key ON ends(workload, run, key);"
	/* To sum a workload's ends without reading their records, and to find the last. */
	"CREATE INDEX ends_counts ON ends(workload, run, drawn, kept, refused, measured, preempted,"
	"	failed, built);"
	"CREATE INDEX ends_last ON ends(workload);"
	/* This tells what runs cost. A run is known here by its id's text, and so is the one that
	 * it is a part of, which need not be known at all. */
	"CREATE TABLE costs("
	"	num INTEGER PRIMARY KEY,"
	"	run TEXT NOT NULL UNIQUE,"
	"	part_of TEXT,"
	"	at TEXT NOT NULL,"
	"	record TEXT NOT NULL"
	") STRICT;"
	"CREATE INDEX costs_part_of ON costs(part_of) WHERE part_of IS NOT NULL;";

/* Units of work (units.h). env NULL: any. record: the workload as it was opened. lease_end: by the
 * database's clock, in seconds since 1970; of a unit that is done: when it was. taken: how often.
 */
static const char units[] = "CREATE TABLE units("
			    "	num INTEGER PRIMARY KEY,"
			    "	id TEXT NOT NULL UNIQUE,"
			    "	workload INTEGER NOT NULL REFERENCES workloads,"
			    "	env TEXT,"
			    "	record TEXT NOT NULL,"
			    "	state INTEGER NOT NULL," /* 0 open, 1 leased, 2 done */
			    "	claim TEXT,"
			    "	holder TEXT,"
			    "	lease_end REAL,"
			    "	taken INTEGER NOT NULL"
			    ") STRICT;"
			    "CREATE INDEX units_open ON units(num) WHERE state = 0;"
			    "CREATE INDEX units_leased ON units(lease_end) WHERE state = 1;"
			    "CREATE INDEX units_workload ON units(workload) WHERE state < 2;"
			    "CREATE INDEX units_claim ON units(claim) WHERE state = 1;";

/* The kernels with which whole runs of a network were fastest (store_choice()). */
static const char choices[] = "CREATE TABLE choices("
			      "	num INTEGER PRIMARY KEY,"
			      "	workload INTEGER NOT NULL REFERENCES workloads,"
			      "	env INTEGER NOT NULL REFERENCES envs,"
			      "	network TEXT NOT NULL,"
			      "	candidate BLOB NOT NULL," /* the id's 16 bytes */
			      "	at TEXT NOT NULL,"
			      "	record TEXT NOT NULL"
			      ") STRICT;"
			      "CREATE UNIQUE INDEX choices_key ON choices(workload, env, network);";

const char *const schema_steps[SCHEMA_VERSION] = {results, units, choices};
