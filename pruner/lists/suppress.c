// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the user's file of suppressions, and finds the entry that fits a race. */
#include "pruner/lists/suppress.h"

#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "hv/base/grow.h"
#include "hv/base/clean.h"
#include "hv/race/group_key.h"
#include "pruner/lists/conf.h"
#include "pruner/lists/datum_match.h"

#define NEVER 99991231u

struct entry {
	/* `expires` is a date as a decimal number, for example 20270131. */
	unsigned line, expires;
	/* Shell patterns. A single pattern must fit a side of the race. Of two patterns, each must fit a different side. */
	char *site[2];
	/* A shell pattern that must fit the id, an identity or an alias of the race. */
	char *race;
	/* A shell pattern that must fit the id or an alias of the race's group. */
	char *group;
	char *type, *member, *variable, *reason;
	bool used;
};

struct suppressions {
	char *path;
	unsigned today;
	struct entry *entries;
	size_t count;
};

static int take_date(struct entry *e, const char *file, const struct conf_field *f, struct err *err)
{
	unsigned year, month, day;
	char rest;

	if (sscanf(f->value, "%4u-%2u-%2u%c", &year, &month, &day, &rest) != 3 || month < 1 || month > 12 || day < 1 ||
	    day > 31)
		return conf_wrong(file, f->line, err, "expires = %.40s: give a day, 2027-01-31", f->value);
	e->expires = year * 10000 + month * 100 + day;
	return 0;
}

static char **text_field(struct entry *e, const char *key)
{
	if (strcmp(key, "site") == 0)
		return e->site[0] ? &e->site[1] : &e->site[0];
	if (strcmp(key, "race") == 0)
		return &e->race;
	if (strcmp(key, "group") == 0)
		return &e->group;
	if (strcmp(key, "type") == 0)
		return &e->type;
	if (strcmp(key, "member") == 0)
		return &e->member;
	if (strcmp(key, "variable") == 0)
		return &e->variable;
	return strcmp(key, "reason") == 0 ? &e->reason : NULL;
}

static int take_field(struct entry *e, const char *file, const struct conf_field *f, struct err *err)
{
	char **text;

	if (strcmp(f->key, "expires") == 0)
		return take_date(e, file, f, err);
	text = text_field(e, f->key);
	if (!text)
		return conf_wrong(file, f->line, err, "'%.40s' is no key of a suppression; see docs/pruning.md", f->key);
	if (*text)
		return conf_wrong(file, f->line, err, "'%.40s' is given twice", f->key);
	/* The reason is text for people. All other values are patterns. */
	*text = text == &e->reason ? clean_copy(f->value, SIZE_MAX) : strdup(f->value);
	return *text ? 0 : err_set(err, EXIT_INTERNAL, "out of memory while reading %s", file);
}

static int take_stanza(void *ctx, const struct conf_stanza *stanza, struct err *err)
{
	struct suppressions *s = ctx;
	struct entry *e = list_grow(&s->entries, &s->count, sizeof(*e), err);

	if (!e)
		return -1;
	*e = (struct entry){.line = stanza->line, .expires = NEVER};
	if (strcmp(stanza->kind, "suppress") != 0)
		return conf_wrong(stanza->file, stanza->line, err, "[%.40s]: a suppression begins with [suppress]",
				  stanza->kind);
	for (unsigned i = 0; i < stanza->count; i++) {
		if (take_field(e, stanza->file, &stanza->fields[i], err) < 0)
			return -1;
	}
	if (!e->race && !e->group && !e->site[0] && !e->type && !e->member && !e->variable)
		return conf_wrong(stanza->file, stanza->line, err,
				  "a suppression needs a group, race, site, type, member or variable");
	if (!e->reason || !e->reason[0])
		return conf_wrong(stanza->file, stanza->line, err, "a suppression needs a reason");
	return 0;
}

struct suppressions *suppress_read(const char *path, unsigned today, struct err *err)
{
	struct suppressions *s = calloc(1, sizeof(*s));

	if (s) {
		s->today = today;
		s->path = strdup(path);
	}
	if (!s || !s->path)
		err_set(err, EXIT_INTERNAL, "out of memory");
	else if (conf_read(path, take_stanza, s, err) == 0)
		return s;
	suppress_free(s);
	return NULL;
}

struct suppressions *suppress_read_today(const char *path, struct err *err)
{
	time_t now = time(NULL);
	struct tm today;

	localtime_r(&now, &today);
	return suppress_read(path, (unsigned)((today.tm_year + 1900) * 10000 + (today.tm_mon + 1) * 100 + today.tm_mday), err);
}

void suppress_free(struct suppressions *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++) {
		struct entry *e = &s->entries[i];

		free(e->site[0]);
		free(e->site[1]);
		free(e->race);
		free(e->group);
		free(e->type);
		free(e->member);
		free(e->variable);
		free(e->reason);
	}
	free(s->entries);
	free(s->path);
	free(s);
}

/*
 * Returns whether the patterns fit a site: its whole name "ext4:ext4_foo+0x1c", the name without offset, or the function
 * alone. The site of a device, "virtio-blk:read", must fit as a whole, because a pattern "read" is for a kernel function.
 */
static bool site_fits(const char *globs, const struct race *race, unsigned which)
{
	const char *site = race->site[which], *function;
	char name[SITE_NAME_MAX];

	if (conf_match(globs, site))
		return true;
	if (race->first.sides[which].kind == RACE_SIDE_DEVICE)
		return false;
	snprintf(name, sizeof(name), "%s", site);
	name[strcspn(name, "+")] = '\0';
	function = strchr(name, ':');
	return conf_match(globs, name) || (function && conf_match(globs, function + 1));
}

static bool sites_fit(const struct entry *e, const struct race *race)
{
	if (!e->site[0])
		return true;
	if (!e->site[1])
		return site_fits(e->site[0], race, 0) || site_fits(e->site[0], race, 1);
	return (site_fits(e->site[0], race, 0) && site_fits(e->site[1], race, 1)) ||
	       (site_fits(e->site[0], race, 1) && site_fits(e->site[1], race, 0));
}

static bool race_fits(const struct entry *e, const struct race *race, const struct race_key *key)
{
	return !e->race || conf_match(e->race, race->id) || conf_match(e->race, key->identity) ||
	       (key->alias[0] && conf_match(e->race, key->alias));
}

static bool group_fits(const struct entry *e, const struct group_key *key)
{
	return !e->group || conf_match(e->group, key->id) || (key->alias[0] && conf_match(e->group, key->alias));
}

static bool datum_fits(const struct entry *e, const struct race *race)
{
	if (!e->type && !e->member && !e->variable)
		return true;
	for (unsigned i = 0; race->names && i < 2; i++) {
		const struct datum_name *d = &race->names->datum[i];

		if (d->by != DATUM_UNNAMED && datum_match(d, e->variable, e->type, e->member))
			return true;
	}
	return false;
}

const char *suppress_find(struct suppressions *s, const struct race *race, bool section)
{
	const char *reason = NULL;
	struct group_key group;
	struct race_key key;

	if (s) {
		race_key(race, &key);
		group_key(race, section, &group);
	}
	for (size_t i = 0; s && i < s->count; i++) {
		struct entry *e = &s->entries[i];

		if (e->expires < s->today || !race_fits(e, race, &key) || !group_fits(e, &group) || !sites_fit(e, race) ||
		    !datum_fits(e, race))
			continue;
		e->used = true;
		if (!reason)
			reason = e->reason;
	}
	return reason;
}

void suppress_leftover(const struct suppressions *s, void (*each)(void *ctx, const char *line), void *ctx)
{
	char line[512];

	for (size_t i = 0; s && i < s->count; i++) {
		const struct entry *e = &s->entries[i];

		if (e->expires < s->today)
			snprintf(line, sizeof(line), "%.200s:%u: expired on %04u-%02u-%02u: %.200s", s->path, e->line,
				 e->expires / 10000, e->expires / 100 % 100, e->expires % 100, e->reason);
		else if (!e->used)
			snprintf(line, sizeof(line), "%.200s:%u: fits no race here: %.200s", s->path, e->line, e->reason);
		else
			continue;
		each(ctx, line);
	}
}
