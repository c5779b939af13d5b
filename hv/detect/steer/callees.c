// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Callees (callees.h): functions that the sampled functions call, and that are sampled too. The sampled functions are the
 * subject. A callee that nearly always has other callers rests: for some time no site of it is chosen.
 */
#include "hv/detect/steer/callees.h"

#include <stdlib.h>

#include "hv/base/grow.h"
#include "hv/detect/core/message.h"
#include "hv/detect/core/spans.h"
#include "hv/detect/core/state.h"
#include "hv/detect/steer/call_targets.h"
#include "hv/detect/steer/functions.h"
#include "hv/detect/steer/pool.h"

/* The address of this variable is the key of the callees' segment in the pool (pool_add_spans()). No module has this key. */
static const char callees_key;

#define OUT_OF_MEMORY "out of memory for the callees"

struct text {
	const void *key;
	const struct symtab *symbols;
	uint64_t start, end;
	bool subject;
};

/* Who executed the points of a callee. */
struct use {
	/*
	 * Hits of the callee's points in calls by the subject's functions, and in other calls. Both start at 0 again when
	 * callees_executed() has decided whether the callee rests.
	 */
	uint32_t subject, others;
	/* How long the last rest took, in ns: the next one takes twice as long. 0: the next rest takes CALLEES_REST_NS. */
	uint64_t rest_ns;
	/* When the rest ends (CLOCK_MONOTONIC, ns). 0: the callee does not rest. */
	uint64_t until_ns;
};

struct callees {
	struct detect *d;
	struct text *texts;
	size_t text_count;
	/* A text was loaded or unloaded that changes which callees there are: callees_refresh() must search again. */
	bool changed;
	/*
	 * Called addresses that were in no known text at the last search, because the guest's list of modules was not read to
	 * its end. Search again when a text with one of these addresses is loaded.
	 */
	struct call_targets missing;
	/* Replaced under d->lock, because callees_for_subject() reads it. */
	struct spans subject;
	/* The callees that are in the pool, and for each the hits of its points. */
	struct spans added;
	struct use *uses;
};

/* One search for callees. */
struct search {
	struct callees *c;
	struct spans subject;
	/*
	 * The callees found so far, and those found on the current level. Level 1 is called by the subject, level 2 by level 1,
	 * and so on.
	 */
	struct spans added, level;
	/* Addresses that the subject's functions or those of the level before call. */
	struct call_targets targets;
	struct call_targets missing;
	bool out_of_memory;
	/* Called functions that are left out, because they synchronise or serve the whole kernel. */
	struct call_targets left_out;
};

struct callees *callees_new(struct detect *d)
{
	struct callees *c = calloc(1, sizeof(*c));

	if (c)
		c->d = d;
	return c;
}

void callees_free(struct callees *c)
{
	if (!c)
		return;
	spans_fini(&c->subject);
	spans_fini(&c->added);
	call_targets_fini(&c->missing);
	free(c->uses);
	free(c->texts);
	free(c);
}

static bool contains(const struct text *text, uint64_t gva)
{
	return gva >= text->start && gva < text->end;
}

/*
 * Whether the callees change when this text is loaded or unloaded: it has functions of the subject, a callee, or an address in
 * c->missing.
 */
static bool matters(const struct callees *c, const struct text *text)
{
	bool in = text->subject;

	for (size_t i = 0; i < c->missing.count && !in; i++)
		in = contains(text, c->missing.list[i]);
	for (size_t i = 0; i < c->added.count && !in; i++)
		in = contains(text, c->added.list[i].start);
	return in;
}

int callees_text_came(struct callees *c, const void *key, const struct symtab *symbols, uint64_t start, uint64_t end,
		      bool subject, struct err *err)
{
	struct text *text = list_grow(&c->texts, &c->text_count, sizeof(*text), NULL);

	if (!text)
		return err_set(err, EXIT_INTERNAL, OUT_OF_MEMORY);
	*text = (struct text){key, symbols, start, end, subject};
	c->changed |= matters(c, text);
	return 0;
}

void callees_text_gone(struct callees *c, const void *key)
{
	for (size_t i = 0; i < c->text_count; i++) {
		const struct text text = c->texts[i];

		if (text.key != key)
			continue;
		c->texts[i] = c->texts[--c->text_count];
		if (!matters(c, &text))
			return;
		c->changed = true;
		/* Remove all callees, since some may be in the text. callees_refresh() adds those in other texts again. */
		pool_remove(c->d->sampler.pool, &callees_key);
		spans_fini(&c->added);
		return;
	}
}

static int find_subject(struct search *s)
{
	struct detect *d = s->c->d;

	for (size_t t = 0; t < s->c->text_count; t++) {
		const struct text *text = &s->c->texts[t];
		struct symbol fn;

		for (size_t i = 0; text->subject && !atomic_load(&d->life.stop) &&
				   pool_next_function(d->sampler.pool, text->symbols, text->start, text->end, &i, &fn);) {
			if (spans_add(&s->subject, fn.addr, fn.size) || call_targets_of(d, fn.addr, fn.size, &s->targets))
				return -1;
		}
	}
	spans_sort(&s->subject);
	return 0;
}

/* Whether a function is a new callee. The symbols [first, end) are all names of the function, as functions.h says. */
static bool is_callee(void *ctx, const struct symtab *symbols, size_t first, size_t end)
{
	struct search *s = ctx;
	bool text = false, common = false;
	struct symbol fn;

	symtab_get(symbols, first, &fn);
	if (!call_targets_has(&s->targets, fn.addr) || spans_find(&s->subject, fn.addr) != SPANS_NONE ||
	    spans_find(&s->added, fn.addr) != SPANS_NONE)
		return false;
	for (size_t i = first; i < end; i++) {
		symtab_get(symbols, i, &fn);
		text |= functions_is_text(fn.type);
		common |= !guest_may_sample(s->c->d->guest, &fn) || guest_serves_all(s->c->d->guest, fn.name);
	}
	if (text && common && call_targets_add(&s->left_out, fn.addr))
		s->out_of_memory = true;
	return text && !common;
}

static bool any_function(void *ctx, const struct symtab *symbols, size_t first, size_t end)
{
	struct symbol fn;

	(void)ctx;
	(void)end;
	symtab_get(symbols, first, &fn);
	return functions_is_text(fn.type);
}

static size_t count_functions(const struct text *text)
{
	const struct functions all = {text->symbols, text->start, text->end, any_function, NULL};
	struct symbol fn;
	size_t n = 0;

	for (size_t i = 0; functions_next(&all, &i, &fn);)
		n++;
	return n;
}

/* Remove from s->level the functions that are called from too many places in this text (CALLEES_SHARE). */
static int leave_out_common(struct search *s, const struct text *text)
{
	uint32_t *counts = calloc(s->level.count + 1, sizeof(*counts));
	size_t kept = 0, most = count_functions(text) / CALLEES_SHARE + CALL_TARGETS_PAGES;

	if (!counts || call_targets_callers(s->c->d, text->start, text->end, &s->level, counts)) {
		free(counts);
		return -1;
	}
	for (size_t i = 0; i < s->level.count; i++) {
		if (counts[i] <= most)
			s->level.list[kept++] = s->level.list[i];
		else if (call_targets_add(&s->left_out, s->level.list[i].start))
			s->out_of_memory = true;
	}
	s->level.count = kept;
	free(counts);
	return 0;
}

static int find_missing(struct search *s)
{
	for (size_t i = 0; i < s->targets.count; i++) {
		bool known = false;

		for (size_t t = 0; t < s->c->text_count && !known; t++)
			known = contains(&s->c->texts[t], s->targets.list[i]);
		if (!known && call_targets_add(&s->missing, s->targets.list[i]))
			return -1;
	}
	return 0;
}

/* Find the callees of this level: the functions at s->targets, which the subject or the level before calls. */
static int find_level(struct search *s)
{
	int ret = 0;

	call_targets_sort(&s->targets);
	if (find_missing(s))
		return -1;
	for (size_t t = 0; t < s->c->text_count; t++) {
		const struct text *text = &s->c->texts[t];
		const struct functions called = {text->symbols, text->start, text->end, is_callee, s};
		struct symbol fn;

		for (size_t i = 0; functions_next(&called, &i, &fn);) {
			if (spans_add(&s->level, fn.addr, fn.size))
				return -1;
		}
	}
	spans_sort(&s->level);
	for (size_t t = 0; t < s->c->text_count && ret == 0; t++) {
		if (!s->c->texts[t].key && s->level.count)
			ret = leave_out_common(s, &s->c->texts[t]);
	}
	return ret;
}

/* Add the functions of this level to the callees. Unless this level is the last, find what they call, for the next level. */
static int end_level(struct search *s, bool last)
{
	s->targets.count = 0;
	for (size_t i = 0; i < s->level.count; i++) {
		const struct span *fn = &s->level.list[i];

		if (spans_add(&s->added, fn->start, fn->end - fn->start))
			return -1;
		if (!last && call_targets_of(s->c->d, fn->start, fn->end - fn->start, &s->targets))
			return -1;
	}
	spans_sort(&s->added);
	spans_fini(&s->level);
	return 0;
}

static int search(struct search *s)
{
	const unsigned depth = s->c->d->config.callee_depth;

	if (find_subject(s))
		return -1;
	for (unsigned level = 1; level <= depth && s->targets.count; level++) {
		if (find_level(s) || end_level(s, level == depth))
			return -1;
	}
	call_targets_sort(&s->left_out);
	return s->out_of_memory ? -1 : 0;
}

static int use(struct callees *c, struct search *s, struct err *err)
{
	struct detect *d = c->d;
	struct use *uses = calloc(s->added.count + 1, sizeof(*uses));
	uint64_t bytes = s->added.bytes ? s->added.bytes : 1;
	/* The sites of all callees together weigh at most as much as the sites of the subject together. */
	uint64_t scale = s->subject.bytes < bytes ? s->subject.bytes * PREFER_ONE / bytes : PREFER_ONE;

	pool_remove(d->sampler.pool, &callees_key);
	if (!uses || pool_add_spans(d->sampler.pool, &callees_key, &s->added, (uint32_t)scale, err)) {
		free(uses);
		return err_set(err, EXIT_INTERNAL, OUT_OF_MEMORY);
	}
	free(c->uses);
	c->uses = uses;
	spans_fini(&c->added);
	c->added = s->added;
	s->added = (struct spans){0};
	call_targets_fini(&c->missing);
	c->missing = s->missing;
	s->missing = (struct call_targets){0};
	pthread_mutex_lock(&d->lock);
	spans_fini(&c->subject);
	c->subject = s->subject;
	s->subject = (struct spans){0};
	if (c->added.count > d->stats.callees)
		d->stats.callees = c->added.count;
	pthread_mutex_unlock(&d->lock);
	if (c->subject.count)
		detect_message(d,
			       "%zu callees of the sampled functions can be sampled, too; %zu other callees are left out, "
			       "because they "
			       "synchronise or are called from all over the kernel",
			       c->added.count, s->left_out.count);
	return 0;
}

int callees_refresh(struct callees *c, struct err *err)
{
	struct search s = {.c = c};
	int ret;

	if (!c->changed)
		return 0;
	c->changed = false;
	target_enter(c->d->target);
	ret = search(&s);
	target_leave(c->d->target);
	ret = ret ? err_set(err, EXIT_INTERNAL, OUT_OF_MEMORY) : use(c, &s, err);
	spans_fini(&s.subject);
	spans_fini(&s.added);
	spans_fini(&s.level);
	call_targets_fini(&s.targets);
	call_targets_fini(&s.missing);
	call_targets_fini(&s.left_out);
	return ret;
}

void callees_executed(struct callees *c, uint64_t gva, bool other_caller, uint64_t now)
{
	size_t i = spans_find(&c->added, gva);
	struct use *use;

	if (i == SPANS_NONE)
		return;
	use = &c->uses[i];
	use->subject += !other_caller;
	use->others += other_caller;
	if (use->subject + use->others < CALLEES_OTHERS || use->until_ns)
		return;
	if (use->subject * CALLEES_OTHERS < use->others) {
		use->rest_ns = use->rest_ns ? 2 * use->rest_ns : CALLEES_REST_NS;
		use->rest_ns = use->rest_ns < CALLEES_REST_MOST_NS ? use->rest_ns : CALLEES_REST_MOST_NS;
		use->until_ns = now + use->rest_ns;
		pool_rest(c->d->sampler.pool, c->added.list[i].start, true);
	} else {
		use->rest_ns = 0;
	}
	use->subject = use->others = 0;
}

void callees_step(struct callees *c, uint64_t now)
{
	for (size_t i = 0; i < c->added.count; i++) {
		if (!c->uses[i].until_ns || now < c->uses[i].until_ns)
			continue;
		c->uses[i].until_ns = 0;
		pool_rest(c->d->sampler.pool, c->added.list[i].start, false);
	}
}

bool callees_has(const struct callees *c, uint64_t gva)
{
	return spans_find(&c->added, gva) != SPANS_NONE;
}

bool callees_for_subject(const struct callees *c, const struct x86_regs *regs)
{
	uint64_t sp = regs->gpr[X86_RSP], left = guest_stack_end(regs) - sp, words[X86_PAGE_SIZE / sizeof(uint64_t)], chunk;
	const uint64_t most = CALLEES_WORDS * c->d->config.callee_depth * sizeof(*words);

	/* Read the stack page by page, because its last page may be unmapped. */
	for (left = left < most ? left : most; left; left -= chunk, sp += chunk) {
		chunk = X86_PAGE_SIZE - (sp & (X86_PAGE_SIZE - 1));
		chunk = chunk < left ? chunk : left;
		if (target_read(c->d->target, regs->cr3, regs->cr4, sp, words, chunk))
			return false;
		for (size_t i = 0; i < chunk / sizeof(*words); i++) {
			if (spans_find(&c->subject, words[i]) != SPANS_NONE)
				return true;
		}
	}
	return false;
}
