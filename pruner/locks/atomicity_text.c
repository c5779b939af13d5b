// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes in one sentence two sections that must be one step, or why they need not be. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hv/base/clean.h"
#include "pruner/locks/atomicity_facts.h"

/* What is wrong; what the function does in its first and second section; what the other function does in between. */
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
	[ATOMICITY_SNAPSHOT] = "both sections only read it, and decide nothing by the first value",
	[ATOMICITY_BATCH] = "a loop that gives the lock up goes on in the second section",
	[ATOMICITY_STATE] = "the other function checks it, and may see the state in between",
	[ATOMICITY_CLAIMED] = "the first section claims it by another datum, which the other function checks",
	[ATOMICITY_OUTER] = "another lock is held around both sections, and by the other function",
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

static void add_suspicion(struct sentence *t, const struct protection *p, const struct suspicion *s)
{
	const struct prot_access *a = &p->accesses[s->side[0]], *r = &p->accesses[s->between];

	add(t, ": %s in %.60s(), which ", patterns[s->pattern].name, protect_function(p, a->function));
	add_words(t, patterns[s->pattern].first, a);
	add(t, " under ");
	add_name(t, p->locks[s->lock].name, p->locks[s->lock].gva);
	add(t, ", releases the lock, and %s under it; in between %.60s() ", patterns[s->pattern].second,
	    protect_function(p, r->function));
	add_words(t, patterns[s->pattern].between, a);
	if (s->by_hold)
		add(t, " (seen in between in %" PRIu64 " of %" PRIu64 " cases, in %" PRIu64 " of them by holding the CPU)",
		    s->held, s->total, s->by_hold);
	else if (s->held)
		add(t, " (seen in %" PRIu64 " of %" PRIu64 " cases)", s->held, s->total);
	else
		add(t, " (not seen, but both ran at the same time)");
}

void atomicity_describe(const struct protection *p, const struct suspicion *s, int told, char *out, size_t size)
{
	const struct prot_access *a = &p->accesses[s->side[0]], *b = &p->accesses[s->side[1]];
	struct sentence t = {out, size};

	out[0] = '\0';
	add_name(&t, b->name, b->gva);
	if (told == ATOMICITY_TOLD)
		add_suspicion(&t, p, s);
	else
		add(&t, " in %.60s(): %s", protect_function(p, a->function), reasons[told]);
	clean_field(out, size);
}
