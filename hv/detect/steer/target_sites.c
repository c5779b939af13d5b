// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Target sites (target_sites.h): the sites of known races, from the report that the user gave, found in this guest and armed in
 * turns.
 */
#include "hv/detect/steer/target_sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/detect/core/code.h"
#include "hv/detect/core/message.h"
#include "hv/detect/core/state.h"
#include "hv/detect/steer/pool.h"
#include "hv/race/known_races.h"

#define TURN_NS 200000000u
/* On a target where arming stops the whole guest, a turn lasts 1 s instead of 200 ms. */
#define COSTLY_TURN_NS 1000000000u
/* A displacement of at least this many bytes is taken for an address, which may differ between boots and builds. */
#define DISP_IS_ADDRESS 0x1000
/* After this many messages about missing sites, one last message says that more sites are missing. */
#define MESSAGES_MAX 16u
#define NO_PLACE SIZE_MAX

/* Whether a target site is in this guest. */
enum found {
	WAITING, /* its module is not loaded */
	MISSING, /* the module's text is loaded, but does not have the site */
	FOUND,
};

/* Which site of a race is armed first in a turn (target_sites.h). LEAD_BOTH: both sites are armed at once. */
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

/* A known race in this guest. */
struct race_state {
	enum found found[2];
	enum lead lead;
	/* The race's sites may be armed in this turn. */
	bool active;
	/* Head of the list of the race's places, an index in target_sites.places, or NO_PLACE. */
	size_t places;
};

/* A target site of the report, to be looked up by the name of its function. */
struct wanted {
	const char *function;
	size_t race;
	unsigned site;
};

struct target_sites {
	struct detect *d;
	const struct known_races *known_races;
	struct race_state *races;
	struct wanted *wanted; /* Sorted by name. */
	size_t wanted_count;
	struct place *places;
	size_t count;
	/* When this turn ends (CLOCK_MONOTONIC, ns), and the first race to be active in the next turn. */
	uint64_t turn_ends;
	size_t first;
	/* Index of the place that is site number 0 in this iteration (target_sites_due()). */
	size_t from;
	/* Number of messages about missing sites. */
	unsigned messages;
};

static const struct target_site *site_of(const struct target_sites *t, size_t race, unsigned site)
{
	return &known_races_get(t->known_races, race)->sites[site];
}

/*
 * Send a message that a side of a race cannot be sampled. After MESSAGES_MAX messages, one last message says that more sides
 * cannot be sampled.
 */
static void say(struct target_sites *t, size_t race, const char *site, const char *why)
{
	if (t->messages == MESSAGES_MAX)
		detect_message(t->d, "not sampled: more sites; no further message names them");
	else if (t->messages < MESSAGES_MAX)
		detect_message(t->d, "not sampled: %s of race %s: %s", site, known_races_get(t->known_races, race)->id, why);
	t->messages++;
}

static int by_function(const void *a, const void *b)
{
	return strcmp(((const struct wanted *)a)->function, ((const struct wanted *)b)->function);
}

struct target_sites *target_sites_new(struct detect *d)
{
	const struct known_races *known = d->config.known_races;
	struct target_sites *t = calloc(1, sizeof(*t));
	size_t n = known_races_count(known);

	if (!t)
		return NULL;
	t->d = d;
	t->known_races = known;
	t->races = calloc(n + 1, sizeof(*t->races));
	t->wanted = calloc(2 * n + 1, sizeof(*t->wanted));
	if (!t->races || !t->wanted) {
		target_sites_free(t);
		return NULL;
	}
	for (size_t r = 0; r < n; r++) {
		t->races[r].places = NO_PLACE;
		for (unsigned i = 0; i < known_races_get(known, r)->count; i++)
			t->wanted[t->wanted_count++] = (struct wanted){site_of(t, r, i)->function, r, i};
	}
	qsort(t->wanted, t->wanted_count, sizeof(*t->wanted), by_function);
	return t;
}

void target_sites_free(struct target_sites *t)
{
	if (!t)
		return;
	free(t->races);
	free(t->wanted);
	free(t->places);
	free(t);
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

/* Returns why the site of the report cannot be armed in the function `fn`, or NULL if it can. */
static const char *why_not(struct target_sites *t, const struct target_site *site, const struct symbol *fn)
{
	uint64_t addr = fn->addr + site->offset;
	uint8_t code[INSN_MAX_LEN];
	struct insn recorded, here;
	bool known = insn_decode(t->d->sampler.decoder, site->code, site->code_len, addr, &recorded) != 0;

	if (known && !pool_is_site(t->d->sampler.pool, &recorded))
		return "outrider cannot hold a CPU at this kind of instruction";
	if (site->offset >= fn->size || !pool_has_site(t->d->sampler.pool, addr))
		return "the running kernel has no access there at which outrider can hold a CPU";
	if (known && (detect_code(t->d, addr, code, recorded.len) ||
		      !insn_decode(t->d->sampler.decoder, code, recorded.len, addr, &here) || !same_insn(&recorded, &here)))
		return "the running kernel has another instruction there";
	return NULL;
}

static int add_place(struct target_sites *t, const void *key, uint64_t addr, const struct wanted *w)
{
	struct race_state *race = &t->races[w->race];
	struct place *to = list_grow(&t->places, &t->count, sizeof(*to), NULL);

	if (!to)
		return -1;
	*to = (struct place){addr, key, w->race, w->site, race->places};
	race->places = t->count - 1;
	return 0;
}

/*
 * Returns the index of the first entry of `wanted` with this function name. If there is none, another entry's index or
 * wanted_count.
 */
static size_t first_wanted(const struct target_sites *t, const char *function)
{
	size_t low = 0, high = t->wanted_count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (strcmp(t->wanted[mid].function, function) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Add the places of all target sites in this function. If the target site wanted[i] belongs to a function of this name, but is
 * not in this function, store the reason in why[i], unless why[i] has one already.
 */
static int look_at(struct target_sites *t, const void *key, const char *module, const struct symbol *fn, const char **why)
{
	char name[SITE_NAME_MAX];
	int len = snprintf(name, sizeof(name), "%s%s%s", module, module[0] ? ":" : "", fn->name);

	if (len < 0 || (size_t)len >= sizeof(name))
		return 0;
	for (size_t i = first_wanted(t, name); i < t->wanted_count && strcmp(t->wanted[i].function, name) == 0; i++) {
		const struct wanted *w = &t->wanted[i];
		const char *reason = why_not(t, site_of(t, w->race, w->site), fn);

		if (reason) {
			why[i] = why[i] ? why[i] : reason;
			continue;
		}
		if (add_place(t, key, fn->addr + site_of(t, w->race, w->site)->offset, w))
			return -1;
		t->races[w->race].found[w->site] = FOUND;
	}
	return 0;
}

/* Whether the function name belongs to the module, or to the kernel if `module` is "". */
static bool is_of(const char *function, const char *module)
{
	size_t len = strlen(module);

	return len ? strncmp(function, module, len) == 0 && function[len] == ':' : !strchr(function, ':');
}

/* Send a message for each target site of `module` that its text does not have. */
static void say_missing(struct target_sites *t, const char *module, const char *const *why)
{
	for (size_t i = 0; i < t->wanted_count; i++) {
		const struct wanted *w = &t->wanted[i];
		enum found *found = &t->races[w->race].found[w->site];
		char name[SITE_NAME_MAX + 16];

		if (*found == FOUND || !is_of(w->function, module))
			continue;
		*found = MISSING;
		snprintf(name, sizeof(name), "%s+0x%x", w->function, site_of(t, w->race, w->site)->offset);
		say(t, w->race, name, why[i] ? why[i] : "the running kernel has no such function");
	}
}

/* Send a message for each side of a race for which the report has no usable site. */
static void say_no_site(struct target_sites *t)
{
	for (size_t r = 0; r < known_races_count(t->known_races); r++) {
		const struct known_race *race = known_races_get(t->known_races, r);
		char why[64];

		for (unsigned i = 0; i < 2; i++) {
			snprintf(why, sizeof(why), "this side %s", race->why_not[i] ? race->why_not[i] : "");
			if (race->why_not[i])
				say(t, r, race->site[i], why);
		}
	}
}

static void say_found(struct target_sites *t)
{
	size_t races = 0, waiting = 0;

	for (size_t r = 0; r < known_races_count(t->known_races); r++)
		races += t->races[r].places != NO_PLACE;
	for (size_t i = 0; i < t->wanted_count; i++)
		waiting += t->races[t->wanted[i].race].found[t->wanted[i].site] == WAITING;
	detect_message(t->d, "sampling %zu target site%s of %zu race%s%s", t->count, t->count == 1 ? "" : "s", races,
		       races == 1 ? "" : "s", waiting ? "; the other target sites are in modules that are not loaded yet" : "");
}

int target_sites_text_came(struct target_sites *t, const void *key, const char *module, const struct symtab *symbols,
			   uint64_t start, uint64_t end, struct err *err)
{
	const char **why = calloc(t->wanted_count + 1, sizeof(*why));
	size_t before = t->count;
	int rc = why ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < symtab_count(symbols); i++) {
		struct symbol fn;

		symtab_get(symbols, i, &fn);
		if (fn.addr >= start && fn.addr < end)
			rc = look_at(t, key, module, &fn, why);
	}
	if (rc) {
		free(why);
		return err_set(err, EXIT_INTERNAL, "out of memory for the target sites");
	}
	if (!module[0])
		say_no_site(t);
	say_missing(t, module, why);
	if (t->count > before || !module[0])
		say_found(t);
	t->turn_ends = 0;
	free(why);
	return 0;
}

void target_sites_text_gone(struct target_sites *t, const void *key)
{
	size_t n = t->count;

	t->count = 0;
	for (size_t r = 0; r < known_races_count(t->known_races); r++)
		t->races[r].places = NO_PLACE;
	for (size_t i = 0; i < n; i++) {
		struct place *place = &t->places[i];

		if (place->key == key) {
			t->races[place->race].found[place->site] = WAITING;
			continue;
		}
		place->next = t->races[place->race].places;
		t->races[place->race].places = t->count;
		t->places[t->count++] = *place;
	}
	t->turn_ends = 0;
}

int target_sites_check(struct target_sites *t, struct err *err)
{
	for (size_t i = 0; i < t->wanted_count; i++) {
		if (t->races[t->wanted[i].race].found[t->wanted[i].site] != MISSING)
			return 0;
	}
	return err_set(err, EXIT_INPUT,
		       "--aim: the running kernel has none of the sites of these races: give a report of the same build");
}

/* ---- when each site is armed ---- */

static bool is_due(const struct target_sites *t, const struct place *place)
{
	const struct race_state *race = &t->races[place->race];
	bool due = race->active && (race->lead == LEAD_BOTH || race->lead == (enum lead)place->site);

	/* The second site is due while a CPU is held at the leading one. */
	for (size_t i = race->places; race->active && !due && i != NO_PLACE; i = t->places[i].next) {
		const struct point *point = points_find(&t->d->points, t->places[i].addr);

		due = point && point->window && t->places[i].site != place->site;
	}
	return due;
}

/*
 * Choose the races that are active in this turn, from t->first on: at least one, and further ones as long as their places fit
 * in `room`.
 */
static void choose_active(struct target_sites *t, uint32_t room)
{
	size_t n = known_races_count(t->known_races), used = 0, taken = 0;

	for (size_t r = 0; r < n; r++)
		t->races[r].active = false;
	for (; taken < n; taken++) {
		struct race_state *race = &t->races[(t->first + taken) % n];
		size_t places = 0;

		for (size_t i = race->places; i != NO_PLACE; i = t->places[i].next)
			places++;
		if (used + places > room && used)
			break;
		used += places;
		race->active = true;
	}
	t->first = (t->first + taken) % n;
}

/* Choose at random which site leads. A site can lead only if both sites were found. */
static enum lead choose_lead(struct target_sites *t, size_t race)
{
	uint64_t drawn = rng_below(&t->d->sampler.choice_rng, 4);
	const enum found *found = t->races[race].found;

	return drawn < 2 && found[0] == FOUND && found[1] == FOUND ? (enum lead)drawn : LEAD_BOTH;
}

static void begin_turn(struct target_sites *t, uint32_t room)
{
	for (size_t r = 0; r < known_races_count(t->known_races); r++)
		t->races[r].lead = choose_lead(t, r);
	choose_active(t, room);
	detect_enter(t->d);
	for (size_t i = 0; i < t->count; i++) {
		struct point *point = points_find(&t->d->points, t->places[i].addr);

		if (point && !point->window && !point->hook && !is_due(t, &t->places[i]))
			points_remove(&t->d->points, point);
	}
	detect_leave(t->d);
}

size_t target_sites_begin(struct target_sites *t, uint64_t now, uint32_t room)
{
	if (t->count && now >= t->turn_ends) {
		begin_turn(t, room);
		t->turn_ends = now + (t->d->target->caps.costly_stops ? COSTLY_TURN_NS : TURN_NS);
	}
	t->from = t->count ? (t->from + 1) % t->count : 0;
	return t->count;
}

uint64_t target_sites_due(struct target_sites *t, size_t i)
{
	const struct place *place = &t->places[(t->from + i) % t->count];
	bool due;

	pthread_mutex_lock(&t->d->lock);
	due = is_due(t, place) && !points_find(&t->d->points, place->addr);
	pthread_mutex_unlock(&t->d->lock);
	return due ? place->addr : 0;
}
