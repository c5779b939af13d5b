-- SPDX-License-Identifier: GPL-2.0-or-later
-- Updates the tables of a store from version 2 to version 3 (schema.sql says what holds for all of it).

-- The versions of the kernel that brought the fix of a race, for each entry of its triage that says "fixed": one for each line of
-- development. An entry without a row is a fix of all kernels from its time on.
CREATE TABLE mended (
	said_id BIGINT NOT NULL REFERENCES said (id),
	version $TEXT NOT NULL,
	PRIMARY KEY (said_id, version)
) $ROWLESS;
