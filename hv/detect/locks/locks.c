// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows locks (locks.h): keeps the lockset of each context up to date, and queues lock moments. A lock moment is an access, a
 * taken or released lock, or the end of an object; moments are numbered by locks.number.
 */
#include "hv/detect/locks/locks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clock.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/entries.h"
#include "hv/detect/locks/handover.h"
#include "hv/detect/locks/internal.h"
#include "hv/detect/locks/lock_known.h"
#include "hv/detect/locks/lock_sets.h"
#include "hv/detect/locks/sections.h"
#include "hv/detect/steer/lock_order.h"
#include "hv/detect/steer/pool.h"

#define OPCODE_JMP 0xe9

/* Implements fate_read. */
static bool read_word(void *ctx, uint64_t gva, uint64_t *word)
{
	const struct locks *l = ctx;

	return guest_read(l->d->guest, gva, word, sizeof(*word)) == 0;
}

struct locks *locks_new(struct detect *d)
{
	struct locks *l = calloc(1, sizeof(*l));

	if (!l || lock_ring_init(&l->ring)) {
		free(l);
		return NULL;
	}
	l->d = d;
	l->fates.read = read_word;
	l->fates.ctx = l;
	l->budget = CAPTURES_AT_ONCE;
	return l;
}

void locks_free(struct locks *l)
{
	if (!l)
		return;
	lock_ring_fini(&l->ring);
	lock_known_fini(&l->known);
	lock_known_fini(&l->results);
	lock_known_fini(&l->inlined);
	lock_known_fini(&l->begins);
	lock_known_fini(&l->ends);
	sections_fini(&l->sections);
	callers_fini(&l->callers);
	lock_load_fini(&l->load);
	free(l);
}

struct lock_ring *locks_ring(struct locks *l)
{
	return &l->ring;
}

struct lock_load *locks_load(struct locks *l)
{
	return &l->load;
}

bool locks_of_subject(const struct locks *l, const struct guest_symbol *function)
{
	const struct detect_config *config = &l->d->config;

	if (!pool_module_fits(function->module, config->module))
		return false;
	return function->name[0] && pool_name_fits(function->name, config->sample);
}

/* ---- lock functions in the guest ---- */

/*
 * `names`: the functions that release a lock, separated by '|'. Returns whether the kernel has none of them, so that its
 * releases are inlined and no hook sees them.
 */
static bool given_unseen(const struct symtab *symbols, const char *names)
{
	char name[sizeof(((struct lock_function *)NULL)->given_by)];

	for (const char *end; *names; names = *end ? end + 1 : end) {
		end = strchrnul(names, '|');
		snprintf(name, sizeof(name), "%.*s", (int)(end - names), names);
		if (symtab_addr(symbols, name))
			return false;
		if (!*end)
			return true;
	}
	return false;
}

static void learn(struct locks *l, const char *module, const struct symtab *symbols, const struct lock_function *function)
{
	struct known_lock_function f = {.addr = symtab_addr(symbols, function->name), .function = function};

	if (!f.addr)
		return;
	f.given_unseen = given_unseen(symbols, function->given_by);
	f.outside = !pool_module_fits(module, l->d->config.module);
	if (function->also_type[0])
		f.also_at = guest_pointer_offset(l->d->guest, function->also_type, function->also_member);
	pthread_mutex_lock(&l->d->lock);
	/* If memory runs out, calls of this function will be missed, so no lockset is known any more. */
	if (lock_known_add(&l->known, &f))
		l->sets.incomplete = true;
	pthread_mutex_unlock(&l->d->lock);
}

void locks_learn(struct locks *l, const char *module, const struct symtab *symbols)
{
	const struct lock_functions *list = l->d->config.locks;

	for (size_t i = 0; i < lock_functions_count(list); i++)
		learn(l, module, symbols, lock_functions_get(list, i));
}

static bool is_there(const struct lock_known *known, const struct lock_function *function)
{
	for (size_t i = 0; i < known->count; i++) {
		if (known->list[i].function == function)
			return true;
	}
	return false;
}

size_t locks_unknown(struct locks *l, const char *names[], size_t max)
{
	const struct lock_functions *list = l->d->config.locks;
	size_t n = 0;

	pthread_mutex_lock(&l->d->lock);
	for (size_t i = 0; i < lock_functions_count(list); i++) {
		const struct lock_function *function = lock_functions_get(list, i);

		if (!function->line || function->code_len || is_there(&l->known, function))
			continue;
		if (n < max)
			names[n] = function->name;
		n++;
	}
	pthread_mutex_unlock(&l->d->lock);
	return n;
}

uint64_t lock_call_target(const struct insn *insn)
{
	int32_t displacement;

	if (insn->len != X86_CALL_LEN || (insn->bytes[0] != X86_CALL && insn->bytes[0] != OPCODE_JMP))
		return 0;
	memcpy(&displacement, insn->bytes + 1, sizeof(displacement));
	return insn->addr + X86_CALL_LEN + (uint64_t)(int64_t)displacement;
}

uint8_t lock_argument_gpr(const struct lock_function *function)
{
	static const uint8_t order[] = {X86_RDI, X86_RSI, X86_RDX, X86_RCX, X86_R8, X86_R8 + 1};

	return function->arg < sizeof(order) ? order[function->arg] : X86_GPRS;
}

struct base_register lock_argument_register(const struct lock_function *function, const struct x86_regs *regs)
{
	uint8_t gpr = lock_argument_gpr(function);

	if (gpr == X86_GPRS || !regs->gpr[gpr])
		return (struct base_register){0};
	return (struct base_register){regs->gpr[gpr], gpr};
}

uint64_t lock_argument(const struct locks *l, const struct lock_function *function, const struct x86_regs *regs)
{
	uint64_t base = lock_argument_register(function, regs).value;

	if (function->arg == LOCK_ARG_VARIABLE)
		base = symtab_addr(guest_symtab(l->d->guest), function->variable);
	return base ? base + (uint64_t)(int64_t)function->offset : 0;
}

const struct lock_function *locks_called(struct locks *l, const struct insn *insn)
{
	const struct lock_function *function = NULL;
	const struct known_lock_function *f;
	uint64_t target = lock_call_target(insn);

	if (!target)
		return NULL;
	pthread_mutex_lock(&l->d->lock);
	f = lock_known_at(&l->known, target);
	if (f && f->function->op != LOCK_OUTER && f->function->op != LOCK_CALLER)
		function = f->function;
	pthread_mutex_unlock(&l->d->lock);
	return function;
}

const struct lock_function *locks_inlined(struct locks *l, uint64_t function, const uint8_t *code, size_t len)
{
	const struct lock_functions *list = l->d->config.locks;
	bool is_one;

	pthread_mutex_lock(&l->d->lock);
	is_one = lock_known_at(&l->known, function);
	pthread_mutex_unlock(&l->d->lock);
	for (size_t i = 0; i < lock_functions_count(list) && !is_one; i++) {
		const struct lock_function *f = lock_functions_get(list, i);

		if (f->code_len && f->code_len <= len && memcmp(f->code, code, f->code_len) == 0)
			return f;
	}
	return NULL;
}

int locks_expect_inlined(struct locks *l, uint64_t addr, const struct lock_function *function)
{
	const struct known_lock_function f = {.addr = addr, .function = function};
	int ret;

	pthread_mutex_lock(&l->d->lock);
	ret = lock_known_add(&l->inlined, &f);
	pthread_mutex_unlock(&l->d->lock);
	return ret;
}

int locks_expect_result(struct locks *l, uint64_t addr, const struct lock_function *function)
{
	struct known_lock_function f = {.addr = addr, .function = function};
	int ret;

	pthread_mutex_lock(&l->d->lock);
	for (size_t i = 0; i < l->known.count; i++) {
		if (l->known.list[i].function != function)
			continue;
		f.given_unseen = l->known.list[i].given_unseen;
		f.also_at = l->known.list[i].also_at;
	}
	ret = lock_known_add(&l->results, &f);
	pthread_mutex_unlock(&l->d->lock);
	return ret;
}

void locks_follow_sections(struct locks *l, const struct section_function *function)
{
	pthread_mutex_lock(&l->d->lock);
	sections_follow(&l->sections, function);
	pthread_mutex_unlock(&l->d->lock);
}

void locks_add_caller(struct locks *l, enum caller_kind kind, const struct caller_site *site)
{
	struct caller_table *const tables[] = {
		[CALLER_TAKE] = &l->callers.takes, [CALLER_CALL] = &l->callers.calls, [CALLER_JUMP] = &l->callers.jumps};

	pthread_mutex_lock(&l->d->lock);
	caller_table_add(tables[kind], site);
	pthread_mutex_unlock(&l->d->lock);
}

void locks_call_chain(const struct locks *l, uint64_t pc, uint64_t rsp, struct call_chain *out)
{
	callers_find(&l->callers, l->d->guest, pc, rsp, out);
}

const struct sections *locks_sections(const struct locks *l)
{
	return &l->sections;
}

struct fates *locks_fates(struct locks *l)
{
	return &l->fates;
}

/* Forget what contexts hold, and what was seen of the order of lock operations. */
static void forget(struct locks *l, uint64_t hole)
{
	memset(l->sets.contexts, 0, sizeof(l->sets.contexts));
	lock_events_hole(&l->events, hole);
	sections_hole(&l->sections);
	fates_hole(&l->fates);
}

void locks_forget(struct locks *l, uint64_t sure_from_ns)
{
	pthread_mutex_lock(&l->d->lock);
	if (!l->load.rest_until_ns) {
		forget(l, l->number + 1);
		l->unsure_until_ns = sure_from_ns;
	}
	pthread_mutex_unlock(&l->d->lock);
}

void locks_planted(struct locks *l, bool complete, uint64_t sure_from_ns)
{
	pthread_mutex_lock(&l->d->lock);
	/* While lock hooks rest, locksets stay unknown. */
	if (!l->load.rest_until_ns)
		l->unsure_until_ns = sure_from_ns;
	/* Record that lock operations before now may have been missed. */
	if (!l->load.rest_until_ns) {
		lock_events_hole(&l->events, l->number + 1);
		sections_hole(&l->sections);
		fates_hole(&l->fates);
	}
	l->sets.incomplete |= !complete;
	pthread_mutex_unlock(&l->d->lock);
}

void locks_rest(struct locks *l)
{
	pthread_mutex_lock(&l->d->lock);
	l->unsure_until_ns = UINT64_MAX;
	forget(l, UINT64_MAX);
	handover_rest(&l->handover);
	lock_load_rest(&l->load, monotonic_ns());
	pthread_mutex_unlock(&l->d->lock);
}

void locks_text_gone(struct locks *l, uint64_t base, uint64_t size)
{
	lock_load_forget(&l->load, base, size);
	l->dropped += lock_sets_text_gone(&l->sets, base, size);
	lock_known_forget(&l->known, base, size);
	lock_known_forget(&l->results, base, size);
	lock_known_forget(&l->inlined, base, size);
	lock_known_forget(&l->begins, base, size);
	lock_known_forget(&l->ends, base, size);
	entries_forget(&l->entries, base, size);
	handover_text_gone(&l->handover, base, size);
	sections_text_gone(&l->sections, base, size);
	fates_text_gone(&l->fates, base, size);
	callers_text_gone(&l->callers, base, size);
}

unsigned locks_dropped(struct locks *l)
{
	unsigned n;

	pthread_mutex_lock(&l->d->lock);
	n = l->dropped;
	l->dropped = 0;
	pthread_mutex_unlock(&l->d->lock);
	return n;
}
