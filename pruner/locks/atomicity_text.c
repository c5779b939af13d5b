// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes an atomicity suspicion in one sentence, or says why two critical sections need not be one step. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hv/base/clean.h"
#include "pruner/locks/atomicity_facts.h"

/*
 * The words of a pattern: its name, what the function does in its first and in its second section, and what the other function
 * does in between. %s is the name of the flag.
 */
static const struct {
	const char *name, *first, *second, *between;
} patterns[ATOMICITY_PATTERNS] = {
	[ATOMICITY_CHECK_ACT] = {"check-then-act", "checks it", "acts on it without checking again", "changes it"},
	[ATOMICITY_UPDATE] = {"read-then-update", "reads it", "stores what follows from the old value", "changes it"},
	[ATOMICITY_READ_BACK] = {"write-then-read", "stores it", "reads it back", "overwrites it"},
	[ATOMICITY_HALF_DONE] = {"half-done update", "stores a value", "replaces this value", "uses the value"},
	[ATOMICITY_PUBLISH] = {"publish-before-init", "sets %s", "sets it", "uses it when %s is set"},
};

static const char *const reasons[ATOMICITY_TOLD] = {
	[ATOMICITY_CHECKED_AGAIN] = "the second section checks it again",
	[ATOMICITY_VERSION] = "the second section checks another datum, which the other function changes with it",
	[ATOMICITY_EXCHANGE] = "the second section's access is LOCKed",
	[ATOMICITY_COUNTER] = "each section updates the value that it finds",
	[ATOMICITY_REPLACED] = "the section that reads the value stores it itself later",
	[ATOMICITY_SNAPSHOT] = "both sections only read it, and decide nothing by the first value",
	[ATOMICITY_BATCH] = "both sections belong to one loop, which releases the lock between its batches",
	[ATOMICITY_STATE] = "the other function checks the datum, so it can tell the state between the sections",
	[ATOMICITY_CLAIMED] = "the first section marks the object as in use by another datum, which the other function checks",
	[ATOMICITY_OUTER] = "the function holds another lock around both sections, and the other function holds this lock, too",
	[ATOMICITY_OWN_STEPS] =
		"the sections are steps of two functions, and their caller decides nothing by the result of the first one",
	[ATOMICITY_OBJECTS] = "loops access several objects, and nothing says that both sections access the same one",
	[ATOMICITY_ELSEWHERE] = "the second section changes other data: the checked datum in few cases or in none",
	[ATOMICITY_EITHER] = "the second section may follow or not, whatever the first one finds",
	[ATOMICITY_UNCHANGED] = "others were not seen to change the bits that the first section checks",
	[ATOMICITY_ONCE] = "another section came in between in only one of many cases, and no change of the datum was seen",
	[ATOMICITY_ORDERED] = "the function waits for a hand-over between its sections",
	[ATOMICITY_NEVER] = "no section of the other function ever came in between",
	[ATOMICITY_APART] = "the two functions were not seen at the same time",
};

struct sentence {
	char *out;
	size_t size;
};

static void __attribute__((format(printf, 2, 3))) add(struct sentence *s, const char *fmt, ...)
{
	size_t used = strlen(s->out);
	va_list args;

	va_start(args, fmt);
	vsnprintf(s->out + used, s->size - used, fmt, args);
	va_end(args);
}

static void add_name(struct sentence *s, const char *name, uint64_t gva)
{
	if (name[0])
		add(s, "%.100s", name);
	else
		add(s, "0x%" PRIx64, gva);
}

/* Append the words, with the flag's name in place of %s. */
static void add_words(struct sentence *s, const char *words, const struct prot_access *flag)
{
	const char *gap = strstr(words, "%s");

	if (!gap) {
		add(s, "%s", words);
		return;
	}
	add(s, "%.*s", (int)(gap - words), words);
	add_name(s, flag->name, flag->gva);
	add(s, "%s", gap + 2);
}

static void add_value(struct sentence *s, const uint8_t *bytes, uint8_t len)
{
	uint64_t value = 0;

	memcpy(&value, bytes, len < sizeof(value) ? len : sizeof(value));
	add(s, "0x%" PRIx64, value);
}

/*
 * Append the datum or result that differed in a copy: its value with the other function in between, and its values in both
 * serial orders.
 */
static void add_difference(struct sentence *t, const struct section_difference *d)
{
	const struct replay_difference *serial = &d->serial;

	if (serial->is_register)
		add(t, "the result of %s function", serial->side ? "the other" : "this");
	else if (serial->name[0])
		add(t, "%.80s", serial->name);
	else
		add(t, "memory at 0x%" PRIx64, serial->gva ? serial->gva : serial->gpa);
	add(t, " is ");
	add_value(t, d->between, serial->len);
	if (memcmp(serial->bytes[0], serial->bytes[1], serial->len) == 0) {
		add(t, ", and in both serial orders ");
	} else {
		add(t, ", and in the serial orders ");
		add_value(t, serial->bytes[0], serial->len);
		add(t, " and ");
	}
	add_value(t, serial->bytes[1], serial->len);
}

static void add_replay(struct sentence *t, const struct section_replay *r)
{
	const struct section_replay_instance *telling = &r->telling;

	switch (section_verdict(r)) {
	case SECTION_VERDICT_CONFIRMED:
		add(t, "; confirmed in a copy: ");
		if (telling->trouble[0])
			add(t, "only in this order, the kernel complains: %.100s", telling->trouble);
		else
			add_difference(t, &telling->differences[0]);
		break;
	case SECTION_VERDICT_NOT_CONFIRMED:
		add(t, "; not confirmed: its outcome in %" PRIu64 " cop%s was that of a serial order", section_replay_told(r),
		    section_replay_told(r) == 1 ? "y" : "ies");
		break;
	default:
		add(t, "; copies could not tell whether it does harm");
		break;
	}
}

/* Append the function that makes the section, unless the sentence is about this function (`subject`). */
static void add_function(struct sentence *t, const struct protection *p, uint32_t function, uint32_t subject)
{
	if (function != subject)
		add(t, " in %.60s()", protect_function(p, function));
}

/* Append in how many cases the run has followed the checked datum, and how often it changed in between. */
static void add_fate(struct sentence *t, const struct protection *p, const struct suspicion *s)
{
	const struct section_fate *f =
		section_fate_find(p->fates, p->fate_count, p->accesses[s->side[0]].pc, s->calls[0], s->calls[1]);

	if (f && s->moved)
		add(t, "; the run read the datum again in %" PRIu64 " cases, and it had changed in between in %" PRIu64,
		    f->seen, f->moved);
}

static void add_suspicion(struct sentence *t, const struct protection *p, const struct suspicion *s)
{
	const struct prot_access *a = &p->accesses[s->side[0]], *b = &p->accesses[s->side[1]], *r = &p->accesses[s->between];
	uint32_t function = s->caller ? s->caller - 1 : a->function;

	add(t, ": %s in %.60s(), which ", patterns[s->pattern].name, protect_function(p, function));
	add_words(t, patterns[s->pattern].first, a);
	add(t, " under ");
	add_name(t, p->locks[s->lock].name, p->locks[s->lock].gva);
	add_function(t, p, a->function, function);
	add(t, ", releases the lock, and %s under ", patterns[s->pattern].second);
	if (s->second_lock == s->lock)
		add(t, "it");
	else
		add_name(t, p->locks[s->second_lock].name, p->locks[s->second_lock].gva);
	add_function(t, p, b->function, function);
	add(t, "; in between %.60s() ", protect_function(p, r->function));
	add_words(t, patterns[s->pattern].between, a);
	if (s->second_lock != s->lock)
		add(t, " under both");
	if (s->by_hold)
		add(t, " (seen in between in %" PRIu64 " of %" PRIu64 " cases, in %" PRIu64 " of them by holding the CPU)",
		    s->held, s->total, s->by_hold);
	else if (s->held)
		add(t, " (seen in %" PRIu64 " of %" PRIu64 " cases)", s->held, s->total);
}

void atomicity_describe(const struct protection *p, const struct suspicion *s, int told, char *out, size_t size)
{
	const struct prot_access *a = &p->accesses[s->side[0]], *b = &p->accesses[s->side[1]];
	struct sentence t = {out, size};

	out[0] = '\0';
	add_name(&t, b->name, b->gva);
	if (told == ATOMICITY_TOLD)
		add_suspicion(&t, p, s);
	if (told == ATOMICITY_TOLD)
		add_fate(&t, p, s);
	if (told == ATOMICITY_TOLD && s->replay)
		add_replay(&t, &p->section_replays[s->replay - 1]);
	if (told != ATOMICITY_TOLD)
		add(&t, " in %.60s(): %s", protect_function(p, a->function), reasons[told]);
	clean_field(out, size);
}
