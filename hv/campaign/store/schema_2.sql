-- SPDX-License-Identifier: GPL-2.0-or-later
-- From version 1 of the store to version 2 (schema.sql says what holds for all of it).

-- The last number of a round that was given out to somebody who has yet to begin the round, for each campaign. A merge leaves it: who
-- was given the number begins the round in this store.
CREATE TABLE given (
	campaign $TEXT NOT NULL PRIMARY KEY,
	number BIGINT NOT NULL
);
