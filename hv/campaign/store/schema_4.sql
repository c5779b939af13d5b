-- SPDX-License-Identifier: GPL-2.0-or-later
-- Updates the tables of a store from version 3 to version 4 (schema.sql says what holds for all of it).

-- Hits that touched memory which another CPU had touched lately, with at least one write, summed over all runs. A site without such hits
-- has no row.
CREATE TABLE talks (
	kernel_id BIGINT NOT NULL,
	name $TEXT NOT NULL,
	hits BIGINT NOT NULL,
	PRIMARY KEY (kernel_id, name)
) $ROWLESS;
