-- SPDX-License-Identifier: GPL-2.0-or-later
-- Updates the tables of a store from version 4 to version 5 (schema.sql says what holds for all of it).

-- What a run of `outrider explore` did with one pair of programs (run_data_explored.c). `own` is how many of the candidates are not the
-- code of all programs. `untried` is how many schedules of the candidates no run has tried yet. `data` has the run's trials, compressed.
CREATE TABLE explored (
	run_id BIGINT NOT NULL PRIMARY KEY REFERENCES run (id),
	prepare $TEXT NOT NULL,
	program0 $TEXT NOT NULL,
	program1 $TEXT NOT NULL,
	candidates BIGINT NOT NULL,
	own BIGINT NOT NULL,
	trials BIGINT NOT NULL,
	untried BIGINT NOT NULL,
	data $BYTES NOT NULL
);
