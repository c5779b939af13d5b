// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the record of which locks protect which data as JSON. */
#include <stdlib.h>
#include <string.h>

#include "hv/report/datum.h"
#include "hv/report/json/locks_json.h"
#include "hv/report/json/section_replay_json.h"
#include "hv/report/json/write.h"
#include "hv/report/lock_words.h"
#include "hv/report/words.h"

struct writing {
	const struct protection *p;
	const struct suspicions *s;
	FILE *out;
	struct err *err;
};

/* Returns an index; null for PROTECTION_NONE. */
static json_t *index_json(uint32_t index)
{
	return index == PROTECTION_NONE ? json_null() : json_integer(index);
}

static json_t *context_json(uint8_t kind, bool known)
{
	const struct guest_context context = {.kind = kind, .known = known};

	return json_string(context_word(&context));
}

static json_t *function_json(struct json_builder *b, const struct writing *w, size_t index)
{
	(void)b;
	return json_string(w->p->functions[index].name);
}

static json_t *lock_json(struct json_builder *b, const struct writing *w, size_t index)
{
	const struct prot_lock *lock = &w->p->locks[index];
	json_t *o = json_object();

	json_put(b, o, "name", json_clean(lock->name, sizeof(lock->name)));
	json_put(b, o, "kind", json_string(lock_kind_word(lock->kind)));
	json_put(b, o, "address", json_hex(lock->gva));
	json_put(b, o, "memory", datum_memory_json(b, &lock->memory));
	return o;
}

static json_t *held_json(struct json_builder *b, const struct prot_held *held)
{
	json_t *o = json_object();

	json_put(b, o, "lock", json_integer(held->lock));
	json_put(b, o, "no_softirq", json_boolean(held->off & LOCK_NO_SOFTIRQ));
	json_put(b, o, "no_irq", json_boolean(held->off & LOCK_NO_IRQ));
	json_put(b, o, "shared", json_boolean(held->shared));
	json_put(b, o, "maybe", json_boolean(held->maybe));
	return o;
}

static json_t *all_held_json(struct json_builder *b, const struct prot_access *a)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < a->held_count; i++)
		json_append(b, list, held_json(b, &a->held[i]));
	return list;
}

/* Add the members that name the accessed datum and tell how it was accessed. */
static void put_datum(struct json_builder *b, json_t *o, const struct prot_access *a)
{
	json_put(b, o, "name", json_clean(a->name, sizeof(a->name)));
	json_put(b, o, "kind", json_string(access_word(a->rw)));
	json_put(b, o, "locked", json_boolean(a->locked));
	json_put(b, o, "address", json_hex(a->gva));
	json_put(b, o, "size", json_integer(a->size));
	json_put(b, o, "life", json_integer(a->life));
	json_put(b, o, "memory", datum_memory_json(b, &a->memory));
}

static json_t *access_json(struct json_builder *b, const struct writing *w, size_t index)
{
	const struct prot_access *a = &w->p->accesses[index];
	json_t *o = json_object();

	json_put(b, o, "site", json_clean(a->site, sizeof(a->site)));
	json_put(b, o, "pc", json_hex(a->pc));
	put_datum(b, o, a);
	json_put(b, o, "context", context_json(a->context, a->context_known));
	json_put(b, o, "irqs_off", json_boolean(a->irqs_off));
	json_put(b, o, "preempt_off", json_boolean(a->preempt_off));
	json_put(b, o, "in_rcu", json_boolean(a->in_rcu));
	json_put(b, o, "held", all_held_json(b, a));
	json_put(b, o, "held_overflow", json_boolean(a->held_overflow));
	json_put(b, o, "function", index_json(a->function));
	json_put(b, o, "operation", index_json(a->operation));
	json_put(b, o, "count", json_whole(a->count));
	json_put(b, o, "count_shared", json_whole(a->count_shared));
	json_put(b, o, "who", json_integer(a->who));
	json_put(b, o, "several", json_boolean(a->several));
	json_put(b, o, "first_ns", json_whole(a->first_ns));
	json_put(b, o, "last_ns", json_whole(a->last_ns));
	return o;
}

static json_t *pair_json(struct json_builder *b, const struct writing *w, size_t index)
{
	const struct prot_pair *pair = &w->p->pairs[index];
	json_t *o = json_object();

	json_put(b, o, "a", json_integer(pair->a));
	json_put(b, o, "b", json_integer(pair->b));
	json_put(b, o, "count", json_whole(pair->count));
	return o;
}

static json_t *take_json(struct json_builder *b, const struct writing *w, size_t index)
{
	const struct prot_take *take = &w->p->takes[index];
	json_t *o = json_object();

	json_put(b, o, "lock", json_integer(take->lock));
	json_put(b, o, "site", json_clean(take->site, sizeof(take->site)));
	json_put(b, o, "function", index_json(take->function));
	json_put(b, o, "operation", index_json(take->operation));
	json_put(b, o, "context", context_json(take->context, true));
	json_put(b, o, "irqs_off", json_boolean(take->irqs_off));
	json_put(b, o, "softirqs_off", json_boolean(take->softirqs_off));
	json_put(b, o, "shared", json_boolean(take->shared));
	json_put(b, o, "tried", json_boolean(take->tried));
	json_put(b, o, "count", json_whole(take->count));
	return o;
}

static json_t *check_json(struct json_builder *b, const struct lock_check *check)
{
	json_t *o = json_object();

	json_put(b, o, "value", json_hex(check->value));
	json_put(b, o, "until", check->until ? json_hex(check->until) : json_null());
	return o;
}

static json_t *use_json(struct json_builder *b, const struct writing *w, size_t index)
{
	const struct prot_use *use = &w->p->uses[index];
	json_t *o = json_object();

	json_put(b, o, "access", json_integer(use->access));
	json_put(b, o, "lock", json_integer(use->lock));
	json_put(b, o, "taken_at", json_hex(use->taken_at));
	json_put(b, o, "decides", json_boolean(use->decides));
	if (use->steps)
		json_put(b, o, "steps", json_true());
	if (use->stores_back)
		json_put(b, o, "stores_back", json_true());
	if (use->same_results)
		json_put(b, o, "same_results", json_true());
	if (use->bits)
		json_put(b, o, "bits", json_hex(use->bits));
	if (use->check.known)
		json_put(b, o, "check", check_json(b, &use->check));
	json_put(b, o, "count", json_whole(use->count));
	return o;
}

static json_t *caller_json(struct json_builder *b, const struct section_pair *s)
{
	json_t *o = json_object();

	json_put(b, o, "address", json_hex(s->caller));
	json_put(b, o, "function", index_json(s->caller_name));
	json_put(b, o, "decides", json_boolean(s->caller_decides));
	return o;
}

static json_t *section_json(struct json_builder *b, const struct writing *w, size_t index)
{
	const struct section_pair *s = &w->p->sections[index];
	json_t *o = json_object(), *between = json_array();

	for (unsigned i = 0; i < SECTION_BETWEEN_MAX && s->between[i].count; i++) {
		json_t *one = json_object();

		json_put(b, one, "taken_at", json_hex(s->between[i].taken_at));
		json_put(b, one, "count", json_whole(s->between[i].count));
		json_put(b, one, "by_hold", json_whole(s->between[i].by_hold));
		json_append(b, between, one);
	}
	if (s->two_locks)
		json_put(b, o, "two_locks", json_true());
	if (s->caller)
		json_put(b, o, "caller", caller_json(b, s));
	json_put(b, o, "first", json_hex(s->first));
	json_put(b, o, "second", json_hex(s->second));
	json_put(b, o, "count", json_whole(s->count));
	json_put(b, o, "waited", json_whole(s->waited));
	json_put(b, o, "in_row", json_whole(s->in_row));
	json_put(b, o, "holds", json_whole(s->holds));
	json_put(b, o, "between", between);
	return o;
}

static json_t *fate_json(struct json_builder *b, const struct writing *w, size_t index)
{
	const struct section_fate *f = &w->p->fates[index];
	json_t *o = json_object();

	json_put(b, o, "pc", json_hex(f->pc));
	json_put(b, o, "first", json_hex(f->first));
	json_put(b, o, "second", f->second ? json_hex(f->second) : json_null());
	json_put(b, o, "seen", json_whole(f->seen));
	json_put(b, o, "own", json_whole(f->own));
	json_put(b, o, "moved", json_whole(f->moved));
	json_put(b, o, "acted", json_whole(f->acted));
	if (f->reached[0] || f->reached[1] || f->missed[0] || f->missed[1]) {
		json_put(b, o, "reached", json_pack("[I,I]", (json_int_t)f->reached[0], (json_int_t)f->reached[1]));
		json_put(b, o, "missed", json_pack("[I,I]", (json_int_t)f->missed[0], (json_int_t)f->missed[1]));
	}
	json_put(b, o, "own_bits", json_hex(f->own_bits));
	json_put(b, o, "moved_bits", json_hex(f->moved_bits));
	return o;
}

static json_t *replay_item_json(struct json_builder *b, const struct writing *w, size_t index)
{
	return section_replay_json(b, &w->p->section_replays[index]);
}

/*
 * Returns one side of a suspicion as an object: the index of its access or of its call that takes a lock, and the site, so that
 * people and filters need not look up the index.
 */
static json_t *side_json(struct json_builder *b, const struct writing *w, const struct suspicion *s, unsigned side)
{
	const char *site = suspicion_of_accesses(s) ? w->p->accesses[s->side[side]].site : w->p->takes[s->side[side]].site;
	json_t *o = json_object();

	json_put(b, o, "index", json_integer(s->side[side]));
	json_put(b, o, "site", json_clean(site, SITE_NAME_MAX));
	return o;
}

static json_t *access_side_json(struct json_builder *b, const struct writing *w, uint32_t access)
{
	json_t *o = json_object();

	json_put(b, o, "index", json_integer(access));
	json_put(b, o, "site", json_clean(w->p->accesses[access].site, SITE_NAME_MAX));
	return o;
}

static json_t *suspicion_replay_json(struct json_builder *b, const struct suspicion *s)
{
	json_t *o = json_object();

	json_put(b, o, "index", json_integer(s->replay - 1));
	json_put(b, o, "verdict", json_string(section_verdict_word(s->verdict)));
	return o;
}

static json_t *suspicion_json(struct json_builder *b, const struct writing *w, size_t index)
{
	const struct suspicion *s = &w->s->list[index];
	json_t *o = json_object(), *sides = json_array(), *confirm = json_object(), *reached = json_array();

	for (unsigned i = 0; i < 2; i++) {
		json_append(b, sides, side_json(b, w, s, i));
		json_append(b, reached, json_whole(s->reached[i]));
	}
	json_put(b, o, "id", json_string(s->id));
	json_put(b, o, "kind", json_string(suspicion_kind_word(s->kind)));
	json_put(b, o, "sides", sides);
	if (s->kind == SUSPICION_ATOMICITY) {
		json_put(b, o, "between", access_side_json(b, w, s->between));
		json_put(b, o, "pattern", json_string(atomicity_pattern_word(s->pattern)));
		json_put(b, o, "by_hold", json_whole(s->by_hold));
		if (s->second_lock != s->lock)
			json_put(b, o, "second_lock", json_integer(s->second_lock));
		if (s->caller)
			json_put(b, o, "caller", json_integer(s->caller - 1));
	}
	if (s->replay)
		json_put(b, o, "replay", suspicion_replay_json(b, s));
	json_put(b, o, "lock", json_integer(s->lock));
	json_put(b, o, "held", json_whole(s->held));
	json_put(b, o, "total", json_whole(s->total));
	json_put(b, o, "met", json_boolean(s->concurrent));
	json_put(b, o, "rank", json_integer(s->rank));
	json_put(b, o, "text", json_clean(s->text, sizeof(s->text)));
	json_put(b, confirm, "state", json_string(confirm_word(s->confirm)));
	json_put(b, confirm, "reached", reached);
	json_put(b, o, "proof", confirm);
	return o;
}

static json_t *moments_json(const struct protection *p)
{
	struct json_builder b = {0};
	json_t *o = json_object();

	json_put(&b, o, "accesses", json_whole(p->moments[LOCK_MOMENT_ACCESS]));
	json_put(&b, o, "takes", json_whole(p->moments[LOCK_MOMENT_TAKE]));
	json_put(&b, o, "gives", json_whole(p->moments[LOCK_MOMENT_GIVE]));
	json_put(&b, o, "frees", json_whole(p->moments[LOCK_MOMENT_FREE]));
	json_put(&b, o, "lost", json_whole(p->lost));
	if (!b.failed)
		return o;
	json_decref(o);
	return NULL;
}

static bool any_told(const struct suspicions *s)
{
	for (unsigned i = 0; i < ATOMICITY_TOLD; i++) {
		if (s->told[i])
			return true;
	}
	return false;
}

static json_t *told_json(const struct suspicions *s)
{
	struct json_builder b = {0};
	json_t *list = json_array();

	for (unsigned i = 0; i < ATOMICITY_TOLD; i++) {
		json_t *one;

		if (!s->told[i])
			continue;
		one = json_object();
		json_put(&b, one, "reason", json_string(atomicity_told_word(i)));
		json_put(&b, one, "count", json_whole(s->told[i]));
		json_put(&b, one, "example", json_clean(s->told_text[i], sizeof(s->told_text[i])));
		json_append(&b, list, one);
	}
	if (!b.failed)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *left_out_json(const struct suspicions *s)
{
	struct json_builder b = {0};
	json_t *o = json_object();

	for (unsigned i = 0; i < PROTECT_LEFT_OUT; i++)
		json_put(&b, o, left_out_word(i), json_whole(s->left_out[i]));
	json_put(&b, o, "lost", json_whole(s->lost));
	if (!b.failed)
		return o;
	json_decref(o);
	return NULL;
}

/* Write `value` and release it. `value` is NULL if memory ran out. */
static int write_value(const struct writing *w, json_t *value)
{
	int rc = value ? json_dumpf(value, w->out, JSON_ENCODE_ANY)
		       : err_set(w->err, EXIT_INTERNAL, "out of memory while making the report");

	json_decref(value);
	return rc;
}

static int write_list(const struct writing *w, const char *key, size_t count,
		      json_t *(*item)(struct json_builder *b, const struct writing *w, size_t index))
{
	if (fprintf(w->out, ",\n\"%s\": [", key) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct json_builder b = {0};
		json_t *value = item(&b, w, i);

		if (b.failed) {
			json_decref(value);
			value = NULL;
		}
		if ((i && fputs(",\n", w->out) == EOF) || write_value(w, value) < 0)
			return -1;
	}
	return putc(']', w->out) == EOF ? -1 : 0;
}

int locks_json_write(FILE *out, const struct protection *p, const struct suspicions *s, struct err *err)
{
	const struct writing w = {p, s, out, err};

	if (fputs("{\"moments\": ", out) == EOF || write_value(&w, moments_json(p)) < 0)
		return -1;
	/* Write the lists in order of reference: entries refer only to earlier lists. */
	if (write_list(&w, "functions", p->function_count, function_json) < 0 ||
	    write_list(&w, "locks", p->lock_count, lock_json) < 0 ||
	    write_list(&w, "accesses", p->access_count, access_json) < 0 ||
	    write_list(&w, "pairs", p->pair_count, pair_json) < 0 || write_list(&w, "takes", p->take_count, take_json) < 0 ||
	    (p->use_count && write_list(&w, "uses", p->use_count, use_json) < 0) ||
	    (p->section_count && write_list(&w, "section_pairs", p->section_count, section_json) < 0) ||
	    (p->fate_count && write_list(&w, "section_fates", p->fate_count, fate_json) < 0) ||
	    (p->section_replay_count && write_list(&w, "section_replays", p->section_replay_count, replay_item_json) < 0) ||
	    write_list(&w, "suspicions", s->count, suspicion_json) < 0)
		return -1;
	if (any_told(s) && (fputs(",\n\"told_apart\": ", out) == EOF || write_value(&w, told_json(s)) < 0))
		return -1;
	if (fputs(",\n\"left_out\": ", out) == EOF || write_value(&w, left_out_json(s)) < 0)
		return -1;
	return putc('}', out) == EOF ? -1 : 0;
}

char *locks_json_text(const struct protection *p, const struct suspicions *s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int rc;

	if (!out)
		return NULL;
	rc = locks_json_write(out, p, s, NULL);
	if (fclose(out) != 0 || rc < 0) {
		free(text);
		return NULL;
	}
	return text;
}
