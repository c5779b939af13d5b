// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the key of a race's group. Races with the same key are usually one bug. */
#include "hv/race/group_key.h"

#include <stdio.h>
#include <string.h>

/*
 * Returns the length of the first part of `datum`, which is a datum's name or place (race_key.h): the name of the variable that
 * contains the datum, or of the type that contains it.
 */
static int owner_length(const char *datum)
{
	return (int)strcspn(datum, ".+");
}

static void put_id(const struct race_key *key, bool section, const char *at, const char *datum, char text[GROUP_TEXT_MAX],
		   char id[RACE_ID_MAX])
{
	const struct race_key_side *a = &key->sides[0], *b = &key->sides[1];
	int used = snprintf(text, GROUP_TEXT_MAX, "%s%s%s <-> %s%s%s ", a->module, a->module[0] ? ":" : "", a->function,
			    b->module, b->module[0] ? ":" : "", b->function);

	if (section)
		snprintf(text + used, GROUP_TEXT_MAX - (size_t)used, "in a section of a sequence count %s%.*s", at,
			 owner_length(datum), datum);
	else
		snprintf(text + used, GROUP_TEXT_MAX - (size_t)used, "%s%s", at[0] ? at : "on ", datum);
	race_id("group", text, id);
}

void group_key(const struct race *race, bool section, struct group_key *out)
{
	char text[GROUP_TEXT_MAX];
	struct race_key key;

	race_key(race, &key);
	*out = (struct group_key){0};
	/*
	 * Pass `section` only if the datum is a member of a variable or type. If the datum is a whole variable, its name
	 * already decides the group, in and outside of a section of a sequence count.
	 */
	if (key.datum[0])
		put_id(&key, section && strchr(key.datum, '.'), "", key.datum, out->text, out->id);
	else if (key.place[0])
		put_id(&key, section, "at ", key.place, out->text, out->id);
	else
		put_id(&key, false, "on a datum without a name, race ", key.identity, out->text, out->id);
	if (key.datum[0] && key.place[0])
		put_id(&key, section, "at ", key.place, text, out->alias);
}
