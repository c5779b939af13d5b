-- SPDX-License-Identifier: GPL-2.0-or-later
-- The store's tables, for SQLite and PostgreSQL alike. db_words.c replaces words such as $TEXT by each backend's own.
-- Nothing is NULL: a number that is not known is 0 or -1, and a text that is not known is ''. Times are milliseconds since 1970 in UTC.
--
-- All sums below (race_round, site) are of whole runs, each added once, and every other choice between two runs is by their times
-- and uuids. So a store does not depend on the order in which runs came into it, and merging gives what one store would have.

-- A build of a guest's kernel.
CREATE TABLE kernel (
	id $ID,
	build_id $TEXT NOT NULL,
	banner $TEXT NOT NULL,
	UNIQUE (build_id, banner)
);

-- One execution of a campaign. Its shards are its parts.
CREATE TABLE round (
	id $ID,
	uuid $TEXT NOT NULL UNIQUE,
	campaign $TEXT NOT NULL,
	number BIGINT NOT NULL,
	plan_hash $TEXT NOT NULL,
	started BIGINT NOT NULL
);
CREATE INDEX round_by_start ON round (started, uuid);

CREATE TABLE part (
	round_id BIGINT NOT NULL REFERENCES round (id),
	shard $TEXT NOT NULL,
	planned BIGINT NOT NULL,
	started BIGINT NOT NULL,
	ended BIGINT NOT NULL,
	PRIMARY KEY (round_id, shard)
) $ROWLESS;

-- One process that looked for races: one cell of the campaign's matrix. state is enum store_state, outcome enum store_outcome.
CREATE TABLE run (
	id $ID,
	uuid $TEXT NOT NULL UNIQUE,
	round_id BIGINT NOT NULL REFERENCES round (id),
	cell $TEXT NOT NULL,
	kernel $TEXT NOT NULL,
	image $TEXT NOT NULL,
	workload $TEXT NOT NULL,
	sampling $TEXT NOT NULL,
	seed $TEXT NOT NULL,
	engine $TEXT NOT NULL,
	command $TEXT NOT NULL,
	folder $TEXT NOT NULL,
	shard $TEXT NOT NULL,
	state SMALLINT NOT NULL,
	outcome SMALLINT NOT NULL,
	detail $TEXT NOT NULL,
	started BIGINT NOT NULL,
	ended BIGINT NOT NULL,
	kernel_id BIGINT NOT NULL,
	hits BIGINT NOT NULL,
	windows BIGINT NOT NULL,
	conflicts BIGINT NOT NULL,
	sampled_ns BIGINT NOT NULL,
	lost_permille BIGINT NOT NULL,
	pool BIGINT NOT NULL
);
CREATE INDEX run_by_round ON run (round_id);

-- A race, in whatever build: two functions, what each does, and the datum. `identity` is all of it as one text, and `sides` is it
-- without the datum. `place` is the datum's place by the guest's own tables, where its name is not known. `line` is the race under
-- which this one is shown: itself, or the only one that it can be where its own datum is not known.
CREATE TABLE race (
	id $ID,
	name $TEXT NOT NULL,
	identity $TEXT NOT NULL UNIQUE,
	sides $TEXT NOT NULL,
	function0 $TEXT NOT NULL,
	module0 $TEXT NOT NULL,
	kind0 $TEXT NOT NULL,
	file0 $TEXT NOT NULL,
	function1 $TEXT NOT NULL,
	module1 $TEXT NOT NULL,
	kind1 $TEXT NOT NULL,
	file1 $TEXT NOT NULL,
	datum $TEXT NOT NULL,
	place $TEXT NOT NULL,
	line BIGINT NOT NULL
);
CREATE INDEX race_by_name ON race (name);
CREATE INDEX race_by_sides ON race (sides);
CREATE INDEX race_by_line ON race (line);

-- The places at which a race whose datum has a name was seen.
CREATE TABLE race_place (
	race_id BIGINT NOT NULL REFERENCES race (id),
	place $TEXT NOT NULL,
	PRIMARY KEY (race_id, place)
) $ROWLESS;

-- A race as reports have it: a pair of sites of one build. An atomicity suspicion is no pair, and both of its sites are ''.
CREATE TABLE build_race (
	id $ID,
	race_id BIGINT NOT NULL REFERENCES race (id),
	kernel_id BIGINT NOT NULL REFERENCES kernel (id),
	report $TEXT NOT NULL,
	site0 $TEXT NOT NULL,
	site1 $TEXT NOT NULL,
	UNIQUE (race_id, kernel_id, report)
);
CREATE INDEX build_race_by_report ON build_race (report);

-- What the pruner said. class is enum verdict_class. Few verdicts are of many races.
CREATE TABLE verdict (
	id $ID,
	class SMALLINT NOT NULL,
	rank SMALLINT NOT NULL,
	rule $TEXT NOT NULL,
	evidence $TEXT NOT NULL,
	suppressed $TEXT NOT NULL,
	UNIQUE (rule, evidence, class, rank, suppressed)
);

-- A race in a run.
CREATE TABLE sighting (
	id $ID,
	build_race_id BIGINT NOT NULL REFERENCES build_race (id),
	run_id BIGINT NOT NULL REFERENCES run (id),
	round_id BIGINT NOT NULL,
	verdict_id BIGINT NOT NULL,
	seen BIGINT NOT NULL,
	first_ns BIGINT NOT NULL,
	last_ns BIGINT NOT NULL,
	UNIQUE (build_race_id, run_id)
);
CREATE INDEX sighting_by_run ON sighting (run_id);

-- Single observations, those that reports keep. Times are since the run's first sample point. how is enum race_how.
CREATE TABLE instance (
	sighting_id BIGINT NOT NULL,
	number SMALLINT NOT NULL,
	how SMALLINT NOT NULL,
	cpu0 SMALLINT NOT NULL,
	cpu1 SMALLINT NOT NULL,
	time_ns BIGINT NOT NULL,
	held_ns BIGINT NOT NULL,
	PRIMARY KEY (sighting_id, number)
) $ROWLESS;

-- The first and the last record of a race in full: a report's JSON object, or the one of an atomicity suspicion (sections_json()),
-- compressed (compress.h).
CREATE TABLE record (
	race_id BIGINT NOT NULL REFERENCES race (id),
	latest SMALLINT NOT NULL,
	started BIGINT NOT NULL,
	run_uuid $TEXT NOT NULL,
	report $TEXT NOT NULL,
	data $BYTES NOT NULL,
	PRIMARY KEY (race_id, latest)
);

-- Sums over the runs of a round. The verdict is the weightiest of the round.
CREATE TABLE race_round (
	race_id BIGINT NOT NULL REFERENCES race (id),
	round_id BIGINT NOT NULL REFERENCES round (id),
	seen BIGINT NOT NULL,
	runs BIGINT NOT NULL,
	verdict_id BIGINT NOT NULL,
	PRIMARY KEY (race_id, round_id)
) $ROWLESS;
CREATE INDEX race_round_by_round ON race_round (round_id);

-- The history of what people said of races. state is enum store_triage.
CREATE TABLE said (
	id $ID,
	race_id BIGINT NOT NULL REFERENCES race (id),
	at BIGINT NOT NULL,
	state SMALLINT NOT NULL,
	who $TEXT NOT NULL,
	note $TEXT NOT NULL,
	UNIQUE (race_id, at, state, who, note)
);

CREATE TABLE finding (
	run_id BIGINT NOT NULL REFERENCES run (id),
	number BIGINT NOT NULL,
	kind $TEXT NOT NULL,
	line $TEXT NOT NULL,
	file $TEXT NOT NULL,
	PRIMARY KEY (run_id, number)
) $ROWLESS;

-- Sums over all runs, for each site of each build. first_armed and first_hit are when runs started; 0 is never.
CREATE TABLE site (
	kernel_id BIGINT NOT NULL,
	name $TEXT NOT NULL,
	armed BIGINT NOT NULL,
	hits BIGINT NOT NULL,
	windows BIGINT NOT NULL,
	conflicts BIGINT NOT NULL,
	runs BIGINT NOT NULL,
	first_armed BIGINT NOT NULL,
	first_hit BIGINT NOT NULL,
	PRIMARY KEY (kernel_id, name)
) $ROWLESS;

-- What each run covered, compressed (compress.h): what `site` is the sum of, and what a merge needs. run_id 0: of `runs` runs of the
-- round together.
CREATE TABLE cover (
	round_id BIGINT NOT NULL REFERENCES round (id),
	run_id BIGINT NOT NULL,
	kernel_id BIGINT NOT NULL,
	runs BIGINT NOT NULL,
	data $BYTES NOT NULL,
	PRIMARY KEY (round_id, run_id, kernel_id)
);
