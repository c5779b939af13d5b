// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the record of which locks protect which data from JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/race/protection_table.h"
#include "hv/report/datum.h"
#include "hv/report/json/locks_json.h"
#include "hv/report/json/read.h"
#include "hv/report/json/section_replay_json.h"
#include "hv/report/lock_words.h"
#include "hv/report/words.h"

/* A lock record being read. */
struct reading {
	struct lock_record *out;
	struct json_stream *in;
	const char *path;
	struct err *err;
	/* Reader of the current item, and the item's name in messages: "races.json: access 12". */
	struct json_reader r;
	char what[256];
	/* The lists already read: one bit per index in lists[]. */
	unsigned seen;
	/* The pairs of sections so far. Room for SECTION_PAIRS_MAX. */
	struct section_pair *sections;
	size_t section_count;
	/* The fates so far. */
	struct section_fate fates[SECTION_FATES_MAX];
	size_t fate_count;
};

static uint32_t read_index(struct json_reader *r, const json_t *o, const char *key, uint32_t count)
{
	/*
	 * Returns the index. For an empty list, 0 is accepted here; check_indices() rejects it after all lists have been read.
	 */
	return (uint32_t)json_read_number(r, o, key, count ? count - 1 : 0);
}

/* Returns an index into functions[]; PROTECTION_NONE for null. */
static uint32_t read_function_index(struct json_reader *r, const json_t *o, const char *key)
{
	return json_read_optional(o, key) ? read_index(r, o, key, PROTECTION_FUNCTIONS_MAX) : PROTECTION_NONE;
}

static int read_word(struct json_reader *r, const json_t *o, const char *key, int (*lookup)(const char *word))
{
	int value = lookup(json_read_string(r, o, key));

	if (value >= 0)
		return value;
	json_read_wrong(r, key, "a known word");
	return 0;
}

/* Returns a whole number from `min` to `max`. */
static int64_t read_signed(struct json_reader *r, const json_t *o, const char *key, int64_t min, int64_t max)
{
	const json_t *value = json_object_get(o, key);

	if (json_is_integer(value) && json_integer_value(value) >= min && json_integer_value(value) <= max)
		return json_integer_value(value);
	json_read_wrong(r, key, "a whole number in its range");
	return 0;
}

static uint8_t read_context(struct json_reader *r, const json_t *o, bool *known)
{
	struct guest_context context = {0};

	if (context_from_word(json_read_string(r, o, "context"), &context) < 0)
		json_read_wrong(r, "context", "a known word");
	*known = context.known;
	return context.kind;
}

/*
 * Check that the last entry got a new index. A duplicate gets the index of the earlier entry, so the indices of all later
 * entries would no longer be those in the file.
 */
static void check_added(struct reading *g, uint32_t at, uint32_t count_before)
{
	if (protection_no_memory(g->out->protection))
		err_set(g->err, EXIT_INTERNAL, "%s: out of memory", g->path);
	else if (at != count_before)
		err_set(g->err, EXIT_INPUT, "%s: %s", g->what,
			at == PROTECTION_NONE ? "there are more of these than a lock record can have" : "it is there twice");
	else
		return;
	g->r.failed = true;
}

static void read_function(struct reading *g, const json_t *item)
{
	struct protection *p = g->out->protection;
	uint32_t before = p->function_count;
	char name[SITE_NAME_MAX];
	json_t *object = json_pack("{s:O}", "name", item);

	json_read_text(&g->r, object, "name", name, sizeof(name));
	json_decref(object);
	if (!g->r.failed)
		check_added(g, protection_function(p, name), before);
}

static void read_lock(struct reading *g, const json_t *item)
{
	struct protection *p = g->out->protection;
	uint32_t before = p->lock_count, at;
	uint64_t gva = json_read_hex(&g->r, item, "address");
	uint8_t kind = (uint8_t)read_word(&g->r, item, "kind", lock_kind_from_word);
	struct guest_memory memory;

	datum_memory_read(&g->r, item, &memory);
	if (g->r.failed)
		return;
	at = protection_lock(p, gva, kind, &memory);
	check_added(g, at, before);
	if (at != PROTECTION_NONE)
		json_read_text(&g->r, item, "name", p->locks[at].name, sizeof(p->locks[at].name));
}

static void read_held(struct reading *g, const json_t *item, struct prot_access *a)
{
	const json_t *list = json_read_array(&g->r, item, "held", LOCKSET_MAX);

	a->held_overflow = json_read_bool(&g->r, item, "held_overflow");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);
		struct prot_held *held = &a->held[a->held_count++];

		held->lock = read_index(&g->r, o, "lock", PROTECTION_LOCKS_MAX);
		held->off = (uint8_t)((json_read_bool(&g->r, o, "no_softirq") ? LOCK_NO_SOFTIRQ : 0) |
				      (json_read_bool(&g->r, o, "no_irq") ? LOCK_NO_IRQ : 0));
		held->shared = json_read_bool(&g->r, o, "shared");
		held->maybe = json_read_bool(&g->r, o, "maybe");
	}
}

static void read_datum(struct json_reader *r, const json_t *item, struct prot_access *a)
{
	json_read_text(r, item, "name", a->name, sizeof(a->name));
	a->rw = (uint8_t)read_word(r, item, "kind", access_from_word);
	a->locked = json_read_bool(r, item, "locked");
	a->gva = json_read_hex(r, item, "address");
	a->size = (uint32_t)json_read_number(r, item, "size", UINT32_MAX);
	a->life = (uint32_t)json_read_number(r, item, "life", UINT32_MAX);
	datum_memory_read(r, item, &a->memory);
}

static void read_access(struct reading *g, const json_t *item)
{
	struct protection *p = g->out->protection;
	uint32_t before = p->access_count;
	struct json_reader *r = &g->r;
	struct prot_access a;

	memset(&a, 0, sizeof(a));
	json_read_text(r, item, "site", a.site, sizeof(a.site));
	a.pc = json_read_hex(r, item, "pc");
	read_datum(r, item, &a);
	a.context = read_context(r, item, &a.context_known);
	a.irqs_off = json_read_bool(r, item, "irqs_off");
	a.preempt_off = json_read_bool(r, item, "preempt_off");
	a.in_rcu = json_read_bool(r, item, "in_rcu");
	read_held(g, item, &a);
	a.function = read_function_index(r, item, "function");
	a.operation = read_function_index(r, item, "operation");
	a.count = json_read_number(r, item, "count", INT64_MAX);
	a.count_shared = json_read_number(r, item, "count_shared", a.count);
	a.who = read_signed(r, item, "who", INT32_MIN, INT32_MAX);
	a.several = json_read_bool(r, item, "several");
	a.several_cpus = true;
	a.first_ns = json_read_number(r, item, "first_ns", INT64_MAX);
	a.last_ns = json_read_number(r, item, "last_ns", INT64_MAX);
	if (!r->failed)
		check_added(g, protection_access(p, &a), before);
}

static void read_pair(struct reading *g, const json_t *item)
{
	struct protection *p = g->out->protection;
	uint32_t before = p->pair_count, at;
	uint32_t a = read_index(&g->r, item, "a", PROTECTION_FUNCTIONS_MAX);
	uint32_t b = read_index(&g->r, item, "b", PROTECTION_FUNCTIONS_MAX);
	uint64_t count = json_read_number(&g->r, item, "count", INT64_MAX);

	if (g->r.failed)
		return;
	at = protection_pair(p, a, b);
	check_added(g, at, before);
	if (at != PROTECTION_NONE)
		p->pairs[at].count = count;
}

static void read_take(struct reading *g, const json_t *item)
{
	struct protection *p = g->out->protection;
	uint32_t before = p->take_count;
	struct json_reader *r = &g->r;
	struct prot_take take;
	bool known;

	memset(&take, 0, sizeof(take));
	take.lock = read_index(r, item, "lock", PROTECTION_LOCKS_MAX);
	json_read_text(r, item, "site", take.site, sizeof(take.site));
	take.function = read_function_index(r, item, "function");
	take.operation = read_function_index(r, item, "operation");
	take.context = read_context(r, item, &known);
	take.irqs_off = json_read_bool(r, item, "irqs_off");
	take.softirqs_off = json_read_bool(r, item, "softirqs_off");
	take.shared = json_read_bool(r, item, "shared");
	take.tried = json_read_bool(r, item, "tried");
	take.count = json_read_number(r, item, "count", INT64_MAX);
	if (!r->failed)
		check_added(g, protection_take_entry(p, &take), before);
}

static void read_check(struct json_reader *r, const json_t *item, struct lock_check *check)
{
	const json_t *o = json_read_object(r, item, "check");

	if (!o)
		return;
	check->known = true;
	check->value = json_read_hex(r, o, "value");
	if (json_read_optional(o, "until"))
		check->until = json_read_hex(r, o, "until");
}

static void read_use(struct reading *g, const json_t *item)
{
	struct protection *p = g->out->protection;
	uint32_t before = p->use_count, at;
	struct json_reader *r = &g->r;
	struct prot_use use;
	uint64_t count;

	memset(&use, 0, sizeof(use));
	use.access = read_index(r, item, "access", PROTECTION_ACCESSES_MAX);
	use.lock = read_index(r, item, "lock", PROTECTION_LOCKS_MAX);
	use.taken_at = json_read_hex(r, item, "taken_at");
	use.decides = json_read_bool(r, item, "decides");
	use.steps = json_read_optional(item, "steps") && json_read_bool(r, item, "steps");
	use.stores_back = json_read_optional(item, "stores_back") && json_read_bool(r, item, "stores_back");
	use.same_results = json_read_optional(item, "same_results") && json_read_bool(r, item, "same_results");
	if (json_read_optional(item, "bits"))
		use.bits = json_read_hex(r, item, "bits");
	if (json_read_optional(item, "check"))
		read_check(r, item, &use.check);
	count = json_read_number(r, item, "count", INT64_MAX);
	if (r->failed)
		return;
	at = protection_use(p, &use);
	check_added(g, at, before);
	if (at != PROTECTION_NONE)
		p->uses[at].count = count;
}

/*
 * Read the count `by_hold`: in how many cases another context's section came between the two sections while the detector held
 * the CPU there. Returns 0 for reports of older versions, which lack this count.
 */
static uint64_t read_by_hold(struct json_reader *r, const json_t *item, uint64_t most)
{
	return json_read_optional(item, "by_hold") ? json_read_number(r, item, "by_hold", most) : 0;
}

static void read_caller(struct json_reader *r, const json_t *item, struct section_pair *s)
{
	const json_t *o = json_read_object(r, item, "caller");

	if (!o)
		return;
	s->caller = json_read_hex(r, o, "address");
	if (json_read_optional(o, "function"))
		s->caller_name = read_index(r, o, "function", PROTECTION_FUNCTIONS_MAX);
	s->caller_decides = json_read_bool(r, o, "decides");
}

static void read_section(struct reading *g, const json_t *item)
{
	struct section_pair s = {.caller_name = PROTECTION_NONE};
	struct json_reader *r = &g->r;
	const json_t *between = json_read_array(r, item, "between", SECTION_BETWEEN_MAX);

	if (g->section_count == SECTION_PAIRS_MAX) {
		err_set(g->err, EXIT_INPUT, "%s: there are more of these than a lock record can have", g->what);
		r->failed = true;
		return;
	}
	s.two_locks = json_read_optional(item, "two_locks") && json_read_bool(r, item, "two_locks");
	if (json_read_optional(item, "caller"))
		read_caller(r, item, &s);
	s.first = json_read_hex(r, item, "first");
	s.second = json_read_hex(r, item, "second");
	s.count = json_read_number(r, item, "count", INT64_MAX);
	s.waited = json_read_number(r, item, "waited", s.count);
	s.in_row = json_read_optional(item, "in_row") ? json_read_number(r, item, "in_row", s.count) : 0;
	s.holds = json_read_optional(item, "holds") ? json_read_number(r, item, "holds", INT64_MAX) : 0;
	for (size_t i = 0; i < json_array_size(between); i++) {
		const json_t *one = json_array_get(between, i);

		s.between[i].taken_at = json_read_hex(r, one, "taken_at");
		s.between[i].count = json_read_number(r, one, "count", INT64_MAX);
		s.between[i].by_hold = read_by_hold(r, one, s.between[i].count);
	}
	g->sections[g->section_count++] = s;
}

static void read_two(struct json_reader *r, const json_t *item, const char *key, uint64_t out[2])
{
	const json_t *list = json_read_optional(item, key) ? json_read_array(r, item, key, 2) : NULL;

	if (!list)
		return;
	if (json_array_size(list) != 2 || !json_is_integer(json_array_get(list, 0)) ||
	    !json_is_integer(json_array_get(list, 1)) || json_integer_value(json_array_get(list, 0)) < 0 ||
	    json_integer_value(json_array_get(list, 1)) < 0) {
		json_read_wrong(r, key, "a list of two counts");
		return;
	}
	out[0] = (uint64_t)json_integer_value(json_array_get(list, 0));
	out[1] = (uint64_t)json_integer_value(json_array_get(list, 1));
}

static void read_fate(struct reading *g, const json_t *item)
{
	struct json_reader *r = &g->r;
	struct section_fate f = {0};

	if (g->fate_count == SECTION_FATES_MAX) {
		err_set(g->err, EXIT_INPUT, "%s: there are more of these than a lock record can have", g->what);
		r->failed = true;
		return;
	}
	f.pc = json_read_hex(r, item, "pc");
	f.first = json_read_hex(r, item, "first");
	if (json_read_optional(item, "second"))
		f.second = json_read_hex(r, item, "second");
	f.seen = json_read_number(r, item, "seen", INT64_MAX);
	f.own = json_read_number(r, item, "own", f.seen);
	f.moved = json_read_number(r, item, "moved", f.seen);
	f.acted = json_read_number(r, item, "acted", f.seen - f.moved);
	read_two(r, item, "reached", f.reached);
	read_two(r, item, "missed", f.missed);
	f.own_bits = json_read_hex(r, item, "own_bits");
	f.moved_bits = json_read_hex(r, item, "moved_bits");
	if (!r->failed && section_fate_find(g->fates, g->fate_count, f.pc, f.first, f.second)) {
		err_set(g->err, EXIT_INPUT, "%s: it is there twice", g->what);
		r->failed = true;
		return;
	}
	g->fates[g->fate_count++] = f;
}

static void read_section_replay(struct reading *g, const json_t *item)
{
	struct protection *p = g->out->protection;
	uint32_t before = p->section_replay_count;
	struct section_replay one, *out;

	section_replay_read(&g->r, item, &one);
	if (g->r.failed)
		return;
	out = protection_section_replay(p, one.first, one.second, one.between);
	if (out && p->section_replay_count > before) {
		*out = one;
		return;
	}
	err_set(g->err, EXIT_INPUT, "%s: it is there twice, or there are more of these than a lock record can have", g->what);
	g->r.failed = true;
}

static void read_confirm(struct json_reader *r, const json_t *item, struct suspicion *s)
{
	const json_t *confirm = json_read_object(r, item, "proof");
	const json_t *reached = json_read_array(r, confirm, "reached", 2);

	s->confirm = (enum confirm_state)read_word(r, confirm, "state", confirm_from_word);
	for (size_t i = 0; i < 2; i++) {
		const json_t *n = json_array_get(reached, i);

		if (!json_is_integer(n) || json_integer_value(n) < 0)
			json_read_wrong(r, "reached", "a list of two counts");
		else
			s->reached[i] = (uint64_t)json_integer_value(n);
	}
}

static void read_sides(struct json_reader *r, const json_t *item, struct suspicion *s)
{
	const json_t *sides = json_read_array(r, item, "sides", 2);

	for (size_t i = 0; i < 2; i++)
		s->side[i] = read_index(r, json_array_get(sides, i), "index", PROTECTION_ACCESSES_MAX);
}

static struct suspicion *new_suspicion(struct reading *g)
{
	struct suspicions *s = &g->out->suspicions;
	struct suspicion *to;

	if (s->count == SUSPICIONS_MAX) {
		err_set(g->err, EXIT_INPUT, "%s: there are more of these than a lock record can have", g->what);
		return NULL;
	}
	to = list_grow(&s->list, &s->count, sizeof(*to), NULL);
	if (!to)
		err_set(g->err, EXIT_INTERNAL, "%s: out of memory", g->path);
	return to;
}

static void read_suspicion(struct reading *g, const json_t *item)
{
	struct suspicion *s = new_suspicion(g);
	struct json_reader *r = &g->r;
	const char *id;

	if (!s) {
		r->failed = true;
		return;
	}
	id = json_read_string(r, item, "id");
	if (strlen(id) != RACE_ID_MAX - 1 || strspn(id, "0123456789abcdef") != RACE_ID_MAX - 1)
		json_read_wrong(r, "id", "12 hexadecimal digits");
	else
		memcpy(s->id, id, RACE_ID_MAX);
	s->kind = (enum suspicion_kind)read_word(r, item, "kind", suspicion_kind_from_word);
	read_sides(r, item, s);
	if (s->kind == SUSPICION_ATOMICITY) {
		s->between = read_index(r, json_read_object(r, item, "between"), "index", PROTECTION_ACCESSES_MAX);
		s->pattern = (enum atomicity_pattern)read_word(r, item, "pattern", atomicity_pattern_from_word);
	}
	if (json_read_optional(item, "replay"))
		s->replay = 1 + read_index(r, json_read_object(r, item, "replay"), "index", SECTION_REPLAYS_MAX);
	s->lock = read_index(r, item, "lock", PROTECTION_LOCKS_MAX);
	if (s->kind == SUSPICION_ATOMICITY)
		s->second_lock = json_read_optional(item, "second_lock")
					 ? read_index(r, item, "second_lock", PROTECTION_LOCKS_MAX)
					 : s->lock;
	if (s->kind == SUSPICION_ATOMICITY && json_read_optional(item, "caller"))
		s->caller = 1 + read_index(r, item, "caller", PROTECTION_FUNCTIONS_MAX);
	s->held = json_read_number(r, item, "held", INT64_MAX);
	s->total = json_read_number(r, item, "total", INT64_MAX);
	s->by_hold = read_by_hold(r, item, s->held);
	s->concurrent = json_read_bool(r, item, "met");
	s->rank = (int)read_signed(r, item, "rank", INT32_MIN, INT32_MAX);
	json_read_text(r, item, "text", s->text, sizeof(s->text));
	read_confirm(r, item, s);
}

static void read_told(struct reading *g, const json_t *item)
{
	struct suspicions *s = &g->out->suspicions;
	unsigned reason = (unsigned)read_word(&g->r, item, "reason", atomicity_told_from_word);

	if (g->r.failed)
		return;
	s->told[reason] = json_read_number(&g->r, item, "count", INT64_MAX);
	json_read_text(&g->r, item, "example", s->told_text[reason], sizeof(s->told_text[reason]));
}

/* The lists, the names of their items, and the handlers of the items. */
static const struct item_list {
	const char *key, *item;
	void (*read)(struct reading *g, const json_t *item);
} lists[] = {{"functions", "function", read_function},
	     {"locks", "lock", read_lock},
	     {"accesses", "access", read_access},
	     {"pairs", "pair", read_pair},
	     {"takes", "take", read_take},
	     {"uses", "use", read_use},
	     {"section_pairs", "section pair", read_section},
	     {"section_fates", "section fate", read_fate},
	     {"section_replays", "section replay", read_section_replay},
	     {"told_apart", "reason", read_told},
	     {"suspicions", "suspicion", read_suspicion}};

#define LISTS (sizeof(lists) / sizeof(lists[0]))

/* Read the rest of a list after its opening bracket. */
static int read_list(struct reading *g, const struct item_list *list)
{
	size_t n = 0;

	if (json_stream_take(g->in, ']'))
		return 0;
	do {
		json_t *item = json_stream_value(g->in, g->err);

		if (!item)
			return -1;
		snprintf(g->what, sizeof(g->what), "%.200s: locks: %s %zu", g->path, list->item, ++n);
		list->read(g, item);
		json_decref(item);
		if (g->r.failed)
			return -1;
	} while (json_stream_take(g->in, ','));
	return json_stream_take(g->in, ']') ? 0 : json_stream_wrong(g->in, "',' or ']' expected", g->err);
}

static uint64_t read_count(struct json_reader *r, const json_t *o, const char *key)
{
	return json_read_optional(o, key) ? json_read_number(r, o, key, INT64_MAX) : 0;
}

/* Read the counters. Ignores counters of later versions. */
static int read_figures(struct reading *g, const char *key, const json_t *value)
{
	struct protection *p = g->out->protection;
	struct json_reader *r = &g->r;

	snprintf(g->what, sizeof(g->what), "%.200s: locks: %s", g->path, key);
	if (strcmp(key, "moments") == 0) {
		p->moments[LOCK_MOMENT_ACCESS] = read_count(r, value, "accesses");
		p->moments[LOCK_MOMENT_TAKE] = read_count(r, value, "takes");
		p->moments[LOCK_MOMENT_GIVE] = read_count(r, value, "gives");
		p->moments[LOCK_MOMENT_FREE] = read_count(r, value, "frees");
		p->lost = read_count(r, value, "lost");
	} else if (strcmp(key, "left_out") == 0) {
		for (unsigned i = 0; i < PROTECT_LEFT_OUT; i++)
			g->out->suspicions.left_out[i] = read_count(r, value, left_out_word(i));
		g->out->suspicions.lost = read_count(r, value, "lost");
	}
	return r->failed ? -1 : 0;
}

static const struct item_list *list_of(const char *key)
{
	for (size_t i = 0; i < LISTS; i++) {
		if (strcmp(key, lists[i].key) == 0)
			return &lists[i];
	}
	return NULL;
}

static int read_value(struct reading *g, const char *key)
{
	const struct item_list *list = list_of(key);
	json_t *value;
	int rc;

	if (list) {
		unsigned bit = 1u << (list - lists);

		if (g->seen & bit)
			return json_stream_wrong(g->in, "a list that the lock record has already", g->err);
		g->seen |= bit;
		if (!json_stream_take(g->in, '['))
			return json_stream_wrong(g->in, "'[' expected", g->err);
		return read_list(g, list);
	}
	value = json_stream_value(g->in, g->err);
	rc = value ? read_figures(g, key, value) : -1;
	json_decref(value);
	return rc;
}

static int read_member(struct reading *g)
{
	json_t *key = json_stream_value(g->in, g->err);
	int rc = -1;

	if (!key)
		return -1;
	if (!json_is_string(key) || !json_stream_take(g->in, ':'))
		json_stream_wrong(g->in, "a key and ':' expected", g->err);
	else
		rc = read_value(g, json_string_value(key));
	json_decref(key);
	return rc;
}

/* Read the rest of the object after its opening brace. */
static int read_members(struct reading *g)
{
	if (json_stream_take(g->in, '}'))
		return 0;
	do {
		if (read_member(g) < 0)
			return -1;
	} while (json_stream_take(g->in, ','));
	return json_stream_take(g->in, '}') ? 0 : json_stream_wrong(g->in, "',' or '}' expected", g->err);
}

static bool function_there(const struct protection *p, uint32_t index)
{
	return index == PROTECTION_NONE || index < p->function_count;
}

static bool access_whole(const struct protection *p, const struct prot_access *a)
{
	for (unsigned i = 0; i < a->held_count; i++) {
		if (a->held[i].lock >= p->lock_count)
			return false;
	}
	return function_there(p, a->function) && function_there(p, a->operation);
}

static bool suspicion_whole(const struct protection *p, const struct suspicion *s)
{
	uint32_t count = suspicion_of_accesses(s) ? p->access_count : p->take_count;

	return (s->kind != SUSPICION_ATOMICITY || s->between < count) && s->replay <= p->section_replay_count &&
	       s->lock < p->lock_count && s->second_lock < p->lock_count && s->caller <= p->function_count &&
	       s->side[0] < count && s->side[1] < count;
}

static int missing(const struct reading *g, const char *item, size_t index)
{
	return err_set(g->err, EXIT_INPUT, "%.200s: locks: %s %zu refers to an entry that does not exist", g->path, item,
		       index + 1);
}

/* Check that all indices refer to existing entries. */
static int check_indices(const struct reading *g)
{
	const struct protection *p = g->out->protection;
	const struct suspicions *s = &g->out->suspicions;

	for (uint32_t i = 0; i < p->access_count; i++) {
		if (!access_whole(p, &p->accesses[i]))
			return missing(g, "access", i);
	}
	for (uint32_t i = 0; i < p->pair_count; i++) {
		if (p->pairs[i].b >= p->function_count)
			return missing(g, "pair", i);
	}
	for (uint32_t i = 0; i < p->take_count; i++) {
		const struct prot_take *take = &p->takes[i];

		if (take->lock >= p->lock_count || !function_there(p, take->function) || !function_there(p, take->operation))
			return missing(g, "take", i);
	}
	for (uint32_t i = 0; i < p->use_count; i++) {
		if (p->uses[i].access >= p->access_count || p->uses[i].lock >= p->lock_count)
			return missing(g, "use", i);
	}
	for (size_t i = 0; i < g->section_count; i++) {
		if (!function_there(p, g->sections[i].caller_name))
			return missing(g, "section pair", i);
	}
	for (size_t i = 0; i < s->count; i++) {
		if (!suspicion_whole(p, &s->list[i]))
			return missing(g, "suspicion", i);
	}
	return 0;
}

/* Derive the verdict of each suspicion that was run in copies from the outcomes of the copies. "verdict" itself is not read. */
static void set_verdicts(const struct reading *g)
{
	for (size_t i = 0; i < g->out->suspicions.count; i++) {
		struct suspicion *s = &g->out->suspicions.list[i];

		if (s->replay)
			s->verdict = section_verdict(&g->out->protection->section_replays[s->replay - 1]);
	}
}

int locks_json_read(struct json_stream *in, const char *path, struct lock_record *out, struct err *err)
{
	struct reading g = {.out = out, .in = in, .path = path, .err = err};
	int rc;

	*out = (struct lock_record){.protection = protection_new()};
	if (!out->protection)
		return err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
	g.sections = calloc(SECTION_PAIRS_MAX, sizeof(*g.sections));
	g.r = (struct json_reader){.what = g.what, .err = err};
	rc = g.sections ? read_members(&g) : err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
	if (rc == 0)
		rc = check_indices(&g);
	if (rc == 0)
		set_verdicts(&g);
	if (rc == 0)
		rc = protection_set_sections(out->protection, g.sections, g.section_count, err);
	if (rc == 0)
		rc = protection_set_fates(out->protection, g.fates, g.fate_count, err);
	free(g.sections);
	if (rc < 0)
		lock_record_fini(out);
	return rc;
}
