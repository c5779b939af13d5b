// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/detect/aiming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/detect/code.h"
#include "hv/detect/note.h"
#include "hv/detect/pool.h"
#include "hv/detect/state.h"
#include "hv/race/aim.h"

#define TURN_NS 200000000u
/* On a target where arming stops the whole guest, turns are longer. */
#define COSTLY_TURN_NS 1000000000u
/* A displacement from here on is taken for an address, which may differ between boots and builds. */
#define DISP_IS_ADDRESS 0x1000
/* After this many messages about missing sites, one more says that there are others. */
#define NOTES_MAX 16u
#define NO_PLACE SIZE_MAX

/* Whether a target site is in this guest. */
enum found {
	WAITING, /* its module is not loaded */
	MISSING, /* its text is loaded, but does not have the site */
	FOUND,
};

/* Which site of a race is armed first in a turn. */
enum lead { LEAD_FIRST, LEAD_SECOND, LEAD_BOTH };

/* A target site in guest memory. Several functions can have the same name, so a site of the report can have several places. */
struct place {
	uint64_t addr;
	const void *key;
	size_t race;
	unsigned site;
	/* The next place of the same race, or NO_PLACE. */
	size_t next;
};

struct aimed_race {
	enum found found[2];
	enum lead lead;
	/* Its sites may be armed in this turn. */
	bool active;
	/* Head of the list of its places, or NO_PLACE. */
	size_t places;
};

/* A target site of the report, found by the name of its function. */
struct wanted {
	const char *function;
	size_t race;
	unsigned site;
};

struct aiming {
	struct detect *d;
	const struct aim *aim;
	struct aimed_race *races;
	struct wanted *wanted; /* Sorted by name. */
	size_t wanted_count;
	struct place *places;
	size_t count, room;
	/* When this turn ends (CLOCK_MONOTONIC, ns), and the first race to be active in the next turn. */
	uint64_t turn_ends;
	size_t first;
	/* The place that is number 0 in this iteration. */
	size_t from;
	/* Number of messages about missing sites. */
	unsigned notes;
};

static const struct aim_site *site_of(const struct aiming *a, size_t race, unsigned site)
{
	return &aim_race(a->aim, race)->sites[site];
}

/*
 * Send a message that a side of a race cannot be sampled. After NOTES_MAX messages, one last message says that there are more.
 */
static void say(struct aiming *a, size_t race, const char *site, const char *why)
{
	if (a->notes == NOTES_MAX)
		detect_note(a->d, "not aimed at: more sites, which are not named here");
	else if (a->notes < NOTES_MAX)
		detect_note(a->d, "not aimed at: %s of race %s: %s", site, aim_race(a->aim, race)->id, why);
	a->notes++;
}

static int by_function(const void *a, const void *b)
{
	return strcmp(((const struct wanted *)a)->function, ((const struct wanted *)b)->function);
}

struct aiming *aiming_new(struct detect *d)
{
	const struct aim *aim = d->config.aim;
	struct aiming *a = calloc(1, sizeof(*a));
	size_t n = aim_count(aim);

	if (!a)
		return NULL;
	a->d = d;
	a->aim = aim;
	a->races = calloc(n + 1, sizeof(*a->races));
	a->wanted = calloc(2 * n + 1, sizeof(*a->wanted));
	if (!a->races || !a->wanted) {
		aiming_free(a);
		return NULL;
	}
	for (size_t r = 0; r < n; r++) {
		a->races[r].places = NO_PLACE;
		for (unsigned i = 0; i < aim_race(aim, r)->count; i++)
			a->wanted[a->wanted_count++] = (struct wanted){site_of(a, r, i)->function, r, i};
	}
	qsort(a->wanted, a->wanted_count, sizeof(*a->wanted), by_function);
	return a;
}

void aiming_free(struct aiming *a)
{
	if (!a)
		return;
	free(a->races);
	free(a->wanted);
	free(a->places);
	free(a);
}

/* ---- which sites the guest has ---- */

static bool same_memory(const struct insn_mem *one, const struct insn_mem *other)
{
	bool moves = one->base == INSN_REG_RIP || one->disp >= DISP_IS_ADDRESS || one->disp <= -DISP_IS_ADDRESS;

	return one->size == other->size && one->rw == other->rw && one->base == other->base && one->index == other->index &&
	       one->scale == other->scale && one->seg == other->seg && one->addr32 == other->addr32 &&
	       (moves || one->disp == other->disp);
}

static bool same_insn(const struct insn *one, const struct insn *other)
{
	bool same = one->len == other->len && one->flags == other->flags && one->nmem == other->nmem &&
		    one->regs_written == other->regs_written;

	for (unsigned i = 0; same && i < one->nmem; i++)
		same = same_memory(&one->mem[i], &other->mem[i]);
	return same;
}

/* Why the site of the report cannot be armed in the function at `fn`. NULL: it can. */
static const char *why_not(struct aiming *a, const struct aim_site *site, const struct symbol *fn)
{
	uint64_t addr = fn->addr + site->offset;
	uint8_t code[INSN_MAX_LEN];
	struct insn recorded, here;
	bool known = insn_decode(a->d->decoder, site->code, site->code_len, addr, &recorded) != 0;

	if (known && !pool_is_site(a->d->pool, &recorded))
		return "such an instruction is never held";
	if (site->offset >= fn->size || !pool_has_site(a->d->pool, addr))
		return "the kernel that runs has no such access there, or none that may be held";
	if (known && (detect_code(a->d, addr, code, recorded.len) ||
		      !insn_decode(a->d->decoder, code, recorded.len, addr, &here) || !same_insn(&recorded, &here)))
		return "the kernel that runs has another instruction there";
	return NULL;
}

static int add_place(struct aiming *a, const void *key, uint64_t addr, const struct wanted *w)
{
	struct aimed_race *race = &a->races[w->race];
	size_t room = a->room ? 2 * a->room : 16;
	struct place *places;

	if (a->count == a->room) {
		places = realloc(a->places, room * sizeof(*places));
		if (!places)
			return -1;
		a->places = places;
		a->room = room;
	}
	a->places[a->count] = (struct place){addr, key, w->race, w->site, race->places};
	race->places = a->count++;
	return 0;
}

/* The index of the first entry of `wanted` for this function name, or wanted_count. */
static size_t first_wanted(const struct aiming *a, const char *function)
{
	size_t low = 0, high = a->wanted_count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (strcmp(a->wanted[mid].function, function) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Add the places of all target sites in this function. why[i] becomes the first reason why site i is not in it. */
static int look_at(struct aiming *a, const void *key, const char *module, const struct symbol *fn, const char **why)
{
	char name[SITE_NAME_MAX];
	int len = snprintf(name, sizeof(name), "%s%s%s", module, module[0] ? ":" : "", fn->name);

	if (len < 0 || (size_t)len >= sizeof(name))
		return 0;
	for (size_t i = first_wanted(a, name); i < a->wanted_count && strcmp(a->wanted[i].function, name) == 0; i++) {
		const struct wanted *w = &a->wanted[i];
		const char *reason = why_not(a, site_of(a, w->race, w->site), fn);

		if (reason) {
			why[i] = why[i] ? why[i] : reason;
			continue;
		}
		if (add_place(a, key, fn->addr + site_of(a, w->race, w->site)->offset, w))
			return -1;
		a->races[w->race].found[w->site] = FOUND;
	}
	return 0;
}

/* Whether the function name belongs to the module, or to the kernel if `module` is "". */
static bool is_of(const char *function, const char *module)
{
	size_t len = strlen(module);

	return len ? strncmp(function, module, len) == 0 && function[len] == ':' : !strchr(function, ':');
}

/* Send a message for each target site in this text that was not found. */
static void say_missing(struct aiming *a, const char *module, const char *const *why)
{
	for (size_t i = 0; i < a->wanted_count; i++) {
		const struct wanted *w = &a->wanted[i];
		enum found *found = &a->races[w->race].found[w->site];
		char name[SITE_NAME_MAX + 16];

		if (*found == FOUND || !is_of(w->function, module))
			continue;
		*found = MISSING;
		snprintf(name, sizeof(name), "%s+0x%x", w->function, site_of(a, w->race, w->site)->offset);
		say(a, w->race, name, why[i] ? why[i] : "the kernel that runs has no such function");
	}
}

/* Send a message for each side that the report itself does not give a usable site for. */
static void say_no_site(struct aiming *a)
{
	for (size_t r = 0; r < aim_count(a->aim); r++) {
		const struct aim_race *race = aim_race(a->aim, r);
		char why[64];

		for (unsigned i = 0; i < 2; i++) {
			snprintf(why, sizeof(why), "this side %s", race->why_not[i] ? race->why_not[i] : "");
			if (race->why_not[i])
				say(a, r, race->site[i], why);
		}
	}
}

static void say_found(struct aiming *a)
{
	size_t races = 0, waiting = 0;

	for (size_t r = 0; r < aim_count(a->aim); r++)
		races += a->races[r].places != NO_PLACE;
	for (size_t i = 0; i < a->wanted_count; i++)
		waiting += a->races[a->wanted[i].race].found[a->wanted[i].site] == WAITING;
	detect_note(a->d, "aiming at %zu site%s of %zu race%s%s", a->count, a->count == 1 ? "" : "s", races,
		    races == 1 ? "" : "s", waiting ? "; others are in modules that are not loaded yet" : "");
}

int aiming_text_came(struct aiming *a, const void *key, const char *module, const struct symtab *symbols, uint64_t start,
		     uint64_t end, struct err *err)
{
	const char **why = calloc(a->wanted_count + 1, sizeof(*why));
	size_t before = a->count;
	int rc = why ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < symtab_count(symbols); i++) {
		struct symbol fn;

		symtab_get(symbols, i, &fn);
		if (fn.addr >= start && fn.addr < end)
			rc = look_at(a, key, module, &fn, why);
	}
	if (rc) {
		free(why);
		return err_set(err, EXIT_INTERNAL, "out of memory for the sites to aim at");
	}
	if (!module[0])
		say_no_site(a);
	say_missing(a, module, why);
	if (a->count > before || !module[0])
		say_found(a);
	a->turn_ends = 0;
	free(why);
	return 0;
}

void aiming_text_gone(struct aiming *a, const void *key)
{
	size_t n = a->count;

	a->count = 0;
	for (size_t r = 0; r < aim_count(a->aim); r++)
		a->races[r].places = NO_PLACE;
	for (size_t i = 0; i < n; i++) {
		struct place *place = &a->places[i];

		if (place->key == key) {
			a->races[place->race].found[place->site] = WAITING;
			continue;
		}
		place->next = a->races[place->race].places;
		a->races[place->race].places = a->count;
		a->places[a->count++] = *place;
	}
	a->turn_ends = 0;
}

int aiming_check(struct aiming *a, struct err *err)
{
	for (size_t i = 0; i < a->wanted_count; i++) {
		if (a->races[a->wanted[i].race].found[a->wanted[i].site] != MISSING)
			return 0;
	}
	return err_set(err, EXIT_INPUT,
		       "--aim: the kernel that runs has none of the sites of these races: give a report of this very build");
}

/* ---- when each is armed ---- */

static bool is_due(const struct aiming *a, const struct place *place)
{
	const struct aimed_race *race = &a->races[place->race];
	bool due = race->active && (race->lead == LEAD_BOTH || race->lead == (enum lead)place->site);

	/* The second site is due while a CPU is held at the leading one. */
	for (size_t i = race->places; race->active && !due && i != NO_PLACE; i = a->places[i].next) {
		const struct point *point = points_find(&a->d->points, a->places[i].addr);

		due = point && point->window && a->places[i].site != place->site;
	}
	return due;
}

/* Activate races from a->first on, as many as have room for their places, and at least one. */
static void choose_active(struct aiming *a, uint32_t room)
{
	size_t n = aim_count(a->aim), used = 0, taken = 0;

	for (size_t r = 0; r < n; r++)
		a->races[r].active = false;
	for (; taken < n; taken++) {
		struct aimed_race *race = &a->races[(a->first + taken) % n];
		size_t places = 0;

		for (size_t i = race->places; i != NO_PLACE; i = a->places[i].next)
			places++;
		if (used + places > room && used)
			break;
		used += places;
		race->active = true;
	}
	a->first = (a->first + taken) % n;
}

/* Draw which site leads. A site can lead only if both sites were found. */
static enum lead choose_lead(struct aiming *a, size_t race)
{
	uint64_t drawn = rng_below(&a->d->choice_rng, 4);
	const enum found *found = a->races[race].found;

	return drawn < 2 && found[0] == FOUND && found[1] == FOUND ? (enum lead)drawn : LEAD_BOTH;
}

static void begin_turn(struct aiming *a, uint32_t room)
{
	for (size_t r = 0; r < aim_count(a->aim); r++)
		a->races[r].lead = choose_lead(a, r);
	choose_active(a, room);
	detect_enter(a->d);
	for (size_t i = 0; i < a->count; i++) {
		struct point *point = points_find(&a->d->points, a->places[i].addr);

		if (point && !point->window && !point->event && !is_due(a, &a->places[i]))
			points_remove(&a->d->points, point);
	}
	detect_leave(a->d);
}

size_t aiming_begin(struct aiming *a, uint64_t now, uint32_t room)
{
	if (a->count && now >= a->turn_ends) {
		begin_turn(a, room);
		a->turn_ends = now + (a->d->target->caps.costly_stops ? COSTLY_TURN_NS : TURN_NS);
	}
	a->from = a->count ? (a->from + 1) % a->count : 0;
	return a->count;
}

uint64_t aiming_due(struct aiming *a, size_t i)
{
	const struct place *place = &a->places[(a->from + i) % a->count];
	bool due;

	pthread_mutex_lock(&a->d->lock);
	due = is_due(a, place) && !points_find(&a->d->points, place->addr);
	pthread_mutex_unlock(&a->d->lock);
	return due ? place->addr : 0;
}
