// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/store/alias.h"

/* A race with a named datum is no alias. */
static int named(struct db *db, const char *sides, struct err *err)
{
	return db_exec(db, err, "UPDATE race SET line = id WHERE sides = $1 AND datum <> '' AND line <> id", "t", sides);
}

/* A race with only a place is an alias of the race with a named datum that was seen at this place, if there is exactly one. */
static int placed(struct db *db, const char *sides, struct err *err)
{
	return db_exec(db, err,
		       "UPDATE race SET line = CASE WHEN (SELECT count(*) FROM race o JOIN race_place p ON p.race_id = o.id "
		       "WHERE o.sides = race.sides AND o.datum <> '' AND p.place = race.place) = 1 "
		       "THEN (SELECT min(o.id) FROM race o JOIN race_place p ON p.race_id = o.id "
		       "WHERE o.sides = race.sides AND o.datum <> '' AND p.place = race.place) ELSE race.id END "
		       "WHERE sides = $1 AND datum = '' AND place <> ''",
		       "t", sides);
}

/* A race without datum and place is an alias of the race with the same sides, if there is exactly one. */
static int bare(struct db *db, const char *sides, struct err *err)
{
	return db_exec(db, err,
		       "UPDATE race SET line = CASE WHEN (SELECT count(*) FROM race o WHERE o.sides = race.sides AND "
		       "o.id <> race.id AND o.line = o.id) = 1 THEN (SELECT min(o.id) FROM race o WHERE o.sides = "
		       "race.sides AND o.id <> race.id AND o.line = o.id) ELSE race.id END WHERE sides = $1 AND datum "
		       "= '' AND place = ''",
		       "t", sides);
}

int alias_update(struct db *db, const char *sides, struct err *err)
{
	return named(db, sides, err) < 0 || placed(db, sides, err) < 0 ? -1 : bare(db, sides, err);
}
