// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the lists of the rules (pruner/lists/ *.conf and files of the user), and finds the entry that fits a datum or a
 * function.
 */
#include "pruner/lists/lists.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "pruner/lists/conf.h"
#include "pruner/lists/datum_match.h"

static const char built_in[] =
#include "prune_conf.h"
	;

#define DATA "variable type member " /* the keys that name a datum */

/*
 * For each kind of entry in a list file: the keys that such an entry may have, and other properties of the kind. If `by_design`
 * is set, entries of the kind list data that race by design. The `function` pattern of such an entry is for the side that reads
 * without a lock, unless the entry has `side = writer`. Unless it has `writers = two`, the entry fits only races with one
 * writer.
 */
static const struct list_traits {
	/* The kind's word in a file, and the keys that only some kinds have. All kinds have the keys in any_keys. */
	const char *word, *keys;
	bool of_data, needs_reason, by_design;
} traits[LIST_KINDS] = {
	[LIST_SPECIAL] = {"special", DATA "function writers side", true, true, true},
	[LIST_COUNTER] = {"counter", DATA "function", true, true, false},
	[LIST_APPROXIMATE] = {"approximate", DATA "function writers side", true, true, true},
	[LIST_BOTH_VALID] = {"both-valid", DATA "function writers side", true, true, true},
	[LIST_ATOMIC] = {"atomic", DATA "function", true, true, false},
	[LIST_MARKED] = {"marked", "function word member access covers", false, false, false},
	[LIST_LOCK] = {"lock", "function", false, false, false},
	[LIST_UNLOCK] = {"unlock", "function", false, false, false},
	[LIST_LOCK_WORD] = {"lock-word", DATA "writers", true, true, false},
	[LIST_LOCK_INSIDE] = {"lock-inside", "function", false, false, false},
	[LIST_LOCK_ARGUMENT] = {"lock-argument", "function bytes", false, false, false},
	[LIST_WAIT] = {"wait", "function", false, false, false},
	[LIST_FREE] = {"free", "function", false, false, false},
	[LIST_DESTROY] = {"destroy", "function", false, false, false},
	[LIST_DROP] = {"drop", "function", false, false, false},
	[LIST_GRACE_FREE] = {"grace-free", "function", false, false, false},
	[LIST_GRACE_WAIT] = {"grace-wait", "function", false, false, false},
	[LIST_SECTION_BEGIN] = {"section-begin", "function", false, false, false},
	[LIST_SECTION_END] = {"section-end", "function", false, false, false},
	[LIST_NO_SLEEP] = {"no-sleep", "function", false, false, false},
	[LIST_ALLOC] = {"alloc", "function", false, false, false},
	[LIST_CHECK] = {"check", "function", false, false, false},
	[LIST_RCU_READ] = {"rcu-read", "function", false, false, false},
	[LIST_RCU_WRITE] = {"rcu-write", "function", false, false, false},
	[LIST_PAGE_COPY] = {"page-copy", "function", false, false, false},
	[LIST_STABLE_PAGES] = {"stable-pages", "function", false, false, false},
	[LIST_PEEK] = {"peek", "function", false, false, false},
	[LIST_SHOW] = {"show", "function", false, false, false},
	[LIST_REFCOUNT] = {"refcount", DATA, true, false, false},
	[LIST_RAISE] = {"raise", DATA "name points", true, false, false},
};
static const char any_keys[] = "reason source kernel";

#define POINTS_MAX 39
/* Maximum size of the word of a lock, in bytes: in the kernel, these words have 4 or 8 bytes. */
#define LOCK_BYTES_MAX 8

const char *kernel_version(const char *text, uint32_t *out)
{
	unsigned major, minor;
	int used = 0;

	if (sscanf(text, "%5u.%5u%n", &major, &minor, &used) != 2 || !used || major > 0x7fff || minor > 0xffff)
		return NULL;
	*out = major << 16 | minor;
	return text + used;
}

/* Read "any", "5.10", "5.10..6.1", "..6.1" or "5.10..". An empty range, such as "6.1..5.10", is an error. */
static int kernel_range(struct list_entry *e, const char *text)
{
	const char *rest = text;

	if (strcmp(text, "any") == 0)
		return 0;
	if (strncmp(rest, "..", 2) != 0) {
		rest = kernel_version(rest, &e->kernel_from);
		if (!rest)
			return -1;
		if (!*rest) {
			e->kernel_to = e->kernel_from;
			return 0;
		}
	}
	if (strncmp(rest, "..", 2) != 0)
		return -1;
	rest += 2;
	if (*rest)
		rest = kernel_version(rest, &e->kernel_to);
	return rest && !*rest && e->kernel_from <= e->kernel_to ? 0 : -1;
}

static char **text_field(struct list_entry *e, const char *key)
{
	const struct {
		const char *key;
		char **field;
	} fields[] = {
		{"variable", &e->variable}, {"type", &e->type},	    {"member", &e->member}, {"function", &e->function},
		{"word", &e->word},	    {"reason", &e->reason}, {"source", &e->source}, {"name", &e->name},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strcmp(key, fields[i].key) == 0)
			return fields[i].field;
	}
	return NULL;
}

/* Read a key that must have one of two values. Sets *out to true if it has the second value. */
static int either(const char *file, const struct conf_field *f, const char *first, const char *second, bool *out,
		  struct err *err)
{
	*out = strcmp(f->value, second) == 0;
	if (!*out && strcmp(f->value, first) != 0)
		return conf_wrong(file, f->line, err, "%s = %.40s: give %s or %s", f->key, f->value, first, second);
	return 0;
}

/* Read a number from 1 to `most`. */
static int take_number(int *out, int most, const char *file, const struct conf_field *f, struct err *err)
{
	char *end;
	long number = strtol(f->value, &end, 10);

	if (*end || end == f->value || number < 1 || number > most)
		return conf_wrong(file, f->line, err, "%s = %.40s: give 1 to %d", f->key, f->value, most);
	*out = (int)number;
	return 0;
}

static int take_field(struct list_entry *e, const char *file, const struct conf_field *f, struct err *err)
{
	char **text = text_field(e, f->key);
	bool writes;

	if (!f->value[0])
		return conf_wrong(file, f->line, err, "'%.40s' has no value", f->key);
	if (!conf_match(any_keys, f->key) && !conf_match(traits[e->kind].keys, f->key))
		return conf_wrong(file, f->line, err, "'%.40s' is no key of [%s]; see docs/pruning.md", f->key,
				  traits[e->kind].word);
	if (text) {
		*text = strdup(f->value);
		return *text ? 0 : err_set(err, EXIT_INTERNAL, "out of memory while reading %s", file);
	}
	if (strcmp(f->key, "kernel") == 0) {
		if (kernel_range(e, f->value) < 0)
			return conf_wrong(file, f->line, err, "kernel = %.40s: give any, 5.10, 5.10..6.1, ..6.1 or 5.10..",
					  f->value);
		return 0;
	}
	if (strcmp(f->key, "points") == 0)
		return take_number(&e->points, POINTS_MAX, file, f, err);
	if (strcmp(f->key, "bytes") == 0)
		return take_number(&e->bytes, LOCK_BYTES_MAX, file, f, err);
	if (strcmp(f->key, "writers") == 0)
		return either(file, f, "one", "two", &e->two_writers, err);
	if (strcmp(f->key, "side") == 0)
		return either(file, f, "reader", "writer", &e->of_writer, err);
	if (strcmp(f->key, "covers") == 0)
		return either(file, f, "operand", "expression", &e->covers_all, err);
	/* The lines above have handled all keys but "access", so the key is "access". */
	if (either(file, f, "read", "write", &writes, err) < 0)
		return -1;
	e->access = writes ? INSN_WRITE : INSN_READ;
	return 0;
}

/* Check that the entry has what its kind needs. An entry without a pattern would fit everything. */
static int check(const struct list_entry *e, const struct conf_stanza *s, struct err *err)
{
	bool of_data = traits[e->kind].of_data;

	if (of_data && !e->variable && !e->type && !e->member)
		return conf_wrong(s->file, s->line, err, "[%s] needs a variable, type or member", s->kind);
	if (!of_data && !e->function && !e->word)
		return conf_wrong(s->file, s->line, err, "[%s] needs a function%s", s->kind,
				  e->kind == LIST_MARKED ? " or word" : "");
	if (e->kind == LIST_MARKED && e->function && (e->member || e->covers_all))
		return conf_wrong(s->file, s->line, err,
				  "[%s]: the keys member and covers go with the key word, not with function", s->kind);
	if (traits[e->kind].needs_reason && !e->reason)
		return conf_wrong(s->file, s->line, err, "[%s] needs a reason", s->kind);
	if (e->kind == LIST_RAISE && !e->name)
		return conf_wrong(s->file, s->line, err, "[%s] needs a name", s->kind);
	if (e->kind == LIST_RAISE && !e->points)
		return conf_wrong(s->file, s->line, err, "[%s] needs points", s->kind);
	return 0;
}

static void entry_free(struct list_entry *e)
{
	free(e->variable);
	free(e->type);
	free(e->member);
	free(e->function);
	free(e->word);
	free(e->reason);
	free(e->source);
	free(e->name);
}

static int kind_of(const char *word)
{
	for (int i = 0; i < LIST_KINDS; i++) {
		if (strcmp(word, traits[i].word) == 0)
			return i;
	}
	return -1;
}

static bool is_repeated(const struct conf_stanza *s, unsigned field)
{
	for (unsigned i = 0; i < field; i++) {
		if (strcmp(s->fields[i].key, s->fields[field].key) == 0)
			return true;
	}
	return false;
}

static int take_stanza(void *ctx, const struct conf_stanza *s, struct err *err)
{
	struct prune_rules *rules = ctx;
	struct list_entry *e;
	int kind = kind_of(s->kind);

	if (kind < 0)
		return conf_wrong(s->file, s->line, err, "[%.40s] is no kind of rule; see docs/pruning.md", s->kind);
	e = list_grow(&rules->entries, &rules->count, sizeof(*e), NULL);
	if (!e)
		return err_set(err, EXIT_INTERNAL, "out of memory while reading %s", s->file);
	*e = (struct list_entry){.kind = (enum list_kind)kind, .kernel_to = KERNEL_ANY};
	for (unsigned i = 0; i < s->count; i++) {
		if (is_repeated(s, i))
			return conf_wrong(s->file, s->fields[i].line, err, "'%.40s' is given twice", s->fields[i].key);
		if (take_field(e, s->file, &s->fields[i], err) < 0)
			return -1;
	}
	return check(e, s, err);
}

struct prune_rules *prune_rules_new(struct err *err)
{
	struct prune_rules *rules = calloc(1, sizeof(*rules));

	if (rules) {
		rules->kernel = KERNEL_ANY;
		rules->decoder = insn_decoder_new();
	}
	if (!rules || !rules->decoder) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		prune_rules_free(rules);
		return NULL;
	}
	if (conf_parse("built-in rules", built_in, strlen(built_in), take_stanza, rules, err) < 0) {
		prune_rules_free(rules);
		return NULL;
	}
	return rules;
}

void prune_rules_free(struct prune_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++)
		entry_free(&rules->entries[i]);
	free(rules->entries);
	insn_decoder_free(rules->decoder);
	free(rules);
}

int prune_rules_add(struct prune_rules *rules, const char *path, struct err *err)
{
	return conf_read(path, take_stanza, rules, err);
}

void prune_rules_set_sources(struct prune_rules *rules, struct sources *sources)
{
	rules->sources = sources;
}

/*
 * Returns whether the banner shows a kernel without CONFIG_PREEMPTION: the number of the build is known, and the flags after
 * it do not contain PREEMPT, PREEMPT_DYNAMIC or PREEMPT_RT (init/Makefile in Linux; scripts/mkcompile_h before 6.1).
 */
static bool is_without_preemption(const char *banner)
{
	const char *flags = banner ? strrchr(banner, '#') : NULL;

	return flags && !strstr(flags, "PREEMPT");
}

void prune_rules_set_kernel(struct prune_rules *rules, const char *banner)
{
	static const char before[] = "Linux version ";
	const char *at = banner ? strstr(banner, before) : NULL;

	if (!at || !kernel_version(at + strlen(before), &rules->kernel))
		rules->kernel = KERNEL_ANY;
	rules->cannot_preempt = is_without_preemption(banner);
	rules->kernel_given = true;
}

void prune_rules_add_kernel(struct prune_rules *rules, const char *banner)
{
	uint32_t before = rules->kernel;
	bool cannot_preempt = !rules->kernel_given || rules->cannot_preempt;

	prune_rules_set_kernel(rules, banner);
	rules->cannot_preempt &= cannot_preempt;
	if (before != KERNEL_ANY && before != rules->kernel)
		rules->kernel = KERNEL_SEVERAL;
}

bool rules_kernel_fits(const struct prune_rules *rules, const struct list_entry *e)
{
	if (rules->kernel == KERNEL_SEVERAL)
		return !e->kernel_from && e->kernel_to == KERNEL_ANY;
	return rules->kernel == KERNEL_ANY || (rules->kernel >= e->kernel_from && rules->kernel <= e->kernel_to);
}

/*
 * Returns whether the entry is for the function of the query, and for the kind of access that the function makes. An entry
 * about data that race by design may name functions as readers. Such an entry allows these functions to read, but not to store.
 */
static bool fits_side(const struct list_entry *e, const struct list_query *query)
{
	if (!traits[e->kind].by_design)
		return conf_fits(e->function, query->function);
	if (query->two_writers && !e->two_writers)
		return false;
	return !e->function ||
	       ((query->changes == e->of_writer || query->two_writers) && conf_fits(e->function, query->function));
}

const struct list_entry *rules_datum(const struct prune_rules *rules, const struct list_query *query)
{
	const struct datum_name *d = query->datum;

	if (d->by == DATUM_UNNAMED || d->guess)
		return NULL;
	for (size_t i = 0; i < rules->count; i++) {
		const struct list_entry *e = &rules->entries[i];

		if (e->kind == query->kind && rules_kernel_fits(rules, e) && datum_match(d, e->variable, e->type, e->member) &&
		    fits_side(e, query))
			return e;
	}
	return NULL;
}

const struct list_entry *rules_access(const struct prune_rules *rules, enum list_kind kind, const char *function,
				      uint8_t access)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct list_entry *e = &rules->entries[i];

		if (e->kind == kind && e->function && (!e->access || e->access == access) && rules_kernel_fits(rules, e) &&
		    conf_fits(e->function, function))
			return e;
	}
	return NULL;
}

const struct list_entry *rules_function(const struct prune_rules *rules, enum list_kind kind, const char *function)
{
	return rules_access(rules, kind, function, 0);
}
