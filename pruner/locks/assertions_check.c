// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks the assertions of a user against the accesses of a record and the locks that were held at them. */
#include "pruner/locks/assertions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/race/suspicion.h"
#include "pruner/lists/conf.h"

/* ---- one access ---- */

enum answer { NO, YES, NOT_KNOWN };

/* The size of a name in the record: "object.member", or "object->member" if the struct's name is not known. */
#define NAME_MAX_LEN sizeof(((struct prot_access *)0)->name)

/* Set `out` to the name with "." for each "->", because assertions_read() replaces "->" in the patterns too. */
static void put_dots(const char *name, char out[NAME_MAX_LEN])
{
	size_t n = 0;

	for (; *name && n + 1 < NAME_MAX_LEN; name++, n++) {
		bool arrow = name[0] == '-' && name[1] == '>';

		out[n] = arrow ? '.' : name[0];
		name += arrow;
	}
	out[n] = '\0';
}

static bool names_datum(const char *globs, const char *name)
{
	char dotted[NAME_MAX_LEN];

	put_dots(name, dotted);
	return conf_match(globs, dotted);
}

/* Returns whether the patterns fit the whole name of a lock, or the last member in that name. */
static bool names_lock(const char *globs, const char *name)
{
	char dotted[NAME_MAX_LEN];
	const char *member;

	put_dots(name, dotted);
	member = strrchr(dotted, '.');
	return conf_match(globs, name) || conf_match(globs, dotted) || (member && conf_match(globs, member + 1));
}

/*
 * Returns whether the access was made in a state that the patterns name ("rcu", "irqs-off" or "preempt-off") and that excludes
 * other contexts as a lock does.
 */
static bool names_context(const char *globs, const struct prot_access *a)
{
	return (a->in_rcu && conf_match(globs, "rcu")) || (a->irqs_off && conf_match(globs, "irqs-off")) ||
	       (a->preempt_off && conf_match(globs, "preempt-off"));
}

static enum answer is_under(const struct protection *p, const struct prot_access *a, const char *globs)
{
	enum answer answer = a->held_overflow || !a->context_known ? NOT_KNOWN : NO;

	if (names_context(globs, a))
		return YES;
	for (unsigned i = 0; i < a->held_count; i++) {
		const struct prot_held *held = &a->held[i];

		if (!names_lock(globs, p->locks[held->lock].name))
			continue;
		if (suspicion_covers(held, a))
			return YES;
		if (held->maybe)
			answer = NOT_KNOWN;
	}
	return answer;
}

static const char *function_name(const struct protection *p, uint32_t function)
{
	return function < p->function_count ? p->functions[function].name : "";
}

/* Returns whether the patterns fit a function, by its name with its module or without. */
static bool names_function(const char *globs, const char *name)
{
	const char *colon = strchr(name, ':');

	return name[0] && (conf_match(globs, name) || (colon && conf_match(globs, colon + 1)));
}

static enum answer is_by(const struct protection *p, const struct prot_access *a, const char *globs)
{
	const char *function = function_name(p, a->function), *operation = function_name(p, a->operation);

	if (names_function(globs, function) || names_function(globs, operation))
		return YES;
	return function[0] ? NO : NOT_KNOWN;
}

/* ---- breaks ---- */

static void held_text(const struct protection *p, const struct prot_access *a, char out[256])
{
	size_t len = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < a->held_count && len < 255; i++) {
		const struct prot_held *held = &a->held[i];

		len += (size_t)snprintf(out + len, 256 - len, "%s%s%s", i ? ", " : "", p->locks[held->lock].name,
					held->maybe    ? " (perhaps)"
					: held->shared ? " (shared)"
						       : "");
	}
}

static bool same_break(const struct assertion_break *a, const struct assertion_break *b)
{
	return a->rw == b->rw && a->context == b->context && strcmp(a->site, b->site) == 0 &&
	       strcmp(a->operation, b->operation) == 0 && strcmp(a->held, b->held) == 0;
}

static int add_break(struct assertion *assertion, const struct protection *p, const struct prot_access *a)
{
	struct assertion_break new = {.rw = a->rw, .context = a->context, .count = a->count_shared}, *to;

	snprintf(new.site, sizeof(new.site), "%s", a->site);
	snprintf(new.function, sizeof(new.function), "%s", function_name(p, a->function));
	snprintf(new.operation, sizeof(new.operation), "%s", function_name(p, a->operation));
	held_text(p, a, new.held);
	for (size_t i = 0; i < assertion->break_count; i++) {
		if (same_break(&assertion->breaks[i], &new)) {
			assertion->breaks[i].count += new.count;
			return 0;
		}
	}
	to = list_grow(&assertion->breaks, &assertion->break_count, sizeof(*to), NULL);
	if (!to)
		return -1;
	*to = new;
	return 0;
}

static int check_access(struct assertion *assertion, const struct protection *p, const struct prot_access *a)
{
	enum answer under = assertion->under ? is_under(p, a, assertion->under) : YES;
	enum answer by = assertion->by ? is_by(p, a, assertion->by) : YES;

	assertion->checked += a->count_shared;
	if (under == NO || by == NO) {
		assertion->broken += a->count_shared;
		return add_break(assertion, p, a);
	}
	if (under == NOT_KNOWN || by == NOT_KNOWN)
		assertion->unknown += a->count_shared;
	return 0;
}

static int most_first(const void *one, const void *other)
{
	const struct assertion_break *a = one, *b = other;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return strcmp(a->site, b->site);
}

int assertions_check(struct assertions *list, const struct protection *p, struct err *err)
{
	for (size_t i = 0; i < list->count; i++) {
		struct assertion *assertion = &list->list[i];

		for (uint32_t n = 0; n < p->access_count; n++) {
			const struct prot_access *a = &p->accesses[n];

			if (!a->count_shared || !names_datum(assertion->datum, a->name))
				continue;
			assertion->seen += a->count_shared;
			if (a->rw & assertion->rw && check_access(assertion, p, a))
				return err_set(err, EXIT_INTERNAL, "out of memory while assertions were checked");
		}
		if (assertion->break_count)
			qsort(assertion->breaks, assertion->break_count, sizeof(*assertion->breaks), most_first);
	}
	return 0;
}
