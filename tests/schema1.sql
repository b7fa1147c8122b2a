-- The schema of version 1, as it was released, to be filled from a database of today that is attached as new.
CREATE TABLE workloads(
	num INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	op TEXT NOT NULL,
	prob TEXT NOT NULL,
	dtype TEXT NOT NULL,
	layout TEXT NOT NULL,
	post TEXT NOT NULL,
	flops INTEGER NOT NULL,
	record TEXT NOT NULL
) STRICT;
CREATE INDEX workloads_op ON workloads(op);
CREATE TABLE sources(
	workload INTEGER NOT NULL REFERENCES workloads,
	source TEXT NOT NULL,
	PRIMARY KEY(workload, source)
) STRICT, WITHOUT ROWID;
CREATE TABLE envs(
	num INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	env TEXT
) STRICT;
CREATE TABLE runs(
	num INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	env INTEGER REFERENCES envs
) STRICT;
CREATE TABLE results(
	num INTEGER PRIMARY KEY,
	workload INTEGER NOT NULL REFERENCES workloads,
	candidate BLOB NOT NULL,
	env INTEGER NOT NULL REFERENCES envs,
	run INTEGER NOT NULL REFERENCES runs,
	final INTEGER NOT NULL,
	status TEXT NOT NULL,
	latency_s REAL,
	baseline_s REAL,
	core_s REAL,
	at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX results_key ON results(workload, candidate, env, run, final);
CREATE INDEX results_best ON results(workload, env, final DESC, latency_s, candidate)
	WHERE status = 'ok';
CREATE TABLE records(
	num INTEGER PRIMARY KEY REFERENCES results,
	record TEXT NOT NULL
) STRICT;
CREATE TABLE ends(
	num INTEGER PRIMARY KEY,
	workload INTEGER NOT NULL REFERENCES workloads,
	run INTEGER NOT NULL REFERENCES runs,
	key BLOB NOT NULL,
	drawn INTEGER, kept INTEGER, refused INTEGER, measured INTEGER,
	preempted INTEGER, failed INTEGER, built INTEGER,
	record TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX ends_key ON ends(workload, run, key);
PRAGMA application_id = 0x544c6462;
PRAGMA user_version = 1;
INSERT INTO workloads SELECT num, id, op, prob, dtype, layout, post, flops, record FROM new.workloads;
INSERT INTO sources SELECT workload, source FROM new.sources;
INSERT INTO envs SELECT num, id, env FROM new.envs;
INSERT INTO runs SELECT num, id, env FROM new.runs;
INSERT INTO results SELECT num, workload, candidate, env, run, final, status, latency_s, baseline_s, core_s, at
	FROM new.results;
INSERT INTO records SELECT num, record FROM new.records;
INSERT INTO ends SELECT num, workload, run, key, drawn, kept, refused, measured, preempted, failed, built, record
	FROM new.ends;
