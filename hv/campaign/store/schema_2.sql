-- SPDX-License-Identifier: GPL-2.0-or-later
-- Updates the tables of a store from version 1 to version 2 (schema.sql says what holds for all of it).

-- For each campaign, the last number that `campaign submit` took for a round that is not begun yet. A merge does not copy the number,
-- because the round begins in this store.
CREATE TABLE given (
	campaign $TEXT NOT NULL PRIMARY KEY,
	number BIGINT NOT NULL
);
