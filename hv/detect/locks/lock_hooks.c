// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Plants the lock hooks: breakpoints at calls of lock functions in newly loaded text. Removes them for some seconds when they
 * cost too much time (lock_load.h).
 */
#include "hv/detect/locks/lock_hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clock.h"
#include "hv/detect/core/code.h"
#include "hv/detect/core/hook.h"
#include "hv/detect/core/message.h"
#include "hv/detect/core/state.h"
#include "hv/detect/locks/caller_hooks.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/locks/section_hooks.h"
#include "hv/detect/steer/pool.h"
#include "hv/target/emulate.h"
#include "symbols/insn/flow.h"

/*
 * A CPU may be past a call that takes a lock when the lock hooks are written again. 1 s later no CPU is in such a critical
 * section any more, except for tasks that slept in it. Until then no lockset is certain.
 */
#define UNSURE_NS 1000000000u
/* When hooks are written again: an emulated CPU needs less time to decode code, also on a busy machine. */
#define AGAIN_NS 250000000u

struct planting {
	struct detect *d;
	/* Number of lock hooks planted, and of calls where planting failed. */
	unsigned planted, refused;
	/* Of `planted`, those at calls that hand over without a lock, such as complete(). */
	unsigned handovers;
	/* Number of calls in the current function that take a lock or try to. */
	unsigned takes;
	/* Planting failed at a call that takes a lock, so locksets are unknown. */
	bool unseen;
	/* Which functions of the text call which. */
	struct caller_graph graph;
};

bool lock_hooks_plant(struct detect *d, const struct guest_hook_site *site)
{
	const struct point *point;
	bool there = hook_add(d, site) == 0;

	if (there && d->sampler.hooks_again_ns)
		d->sampler.hooks_again_more = true;
	else if (there)
		d->sampler.hooks_again_ns = monotonic_ns() + AGAIN_NS;
	if (there)
		return true;
	pthread_mutex_lock(&d->lock);
	point = points_find(&d->points, site->insn.addr);
	there = point && point->hook == 1 + (int)GUEST_HOOK_LOCK;
	pthread_mutex_unlock(&d->lock);
	return there;
}

/*
 * Plant a lock hook at the instruction after the call, which sees the call's result: whether a trylock succeeded, whether a
 * wait for a hand-over did, the address that an allocation returned, or that a call that releases its lock at its end is
 * over. If that instruction cannot be emulated, the result stays unknown. Then a tried lock is treated as possibly held, an
 * allocated object as the object that was at its address before, and a lock that is released at the end of a call as released
 * at the call.
 */
static void plant_result(struct planting *p, const struct lock_function *function, const struct insn *after)
{
	struct insn_branch branch;

	/*
	 * Plant no lock hook here if `after` is a direct jump or call, which may be a static key or a static call that the
	 * guest patches. But if it leads to a lock function, it gets a lock hook for that function in most cases, and the same
	 * hook sees the result.
	 */
	if (!target_can_emulate(after) || (insn_direct_branch(after, &branch) && !locks_called(p->d->locks, after)))
		return;
	if (lock_hooks_plant(p->d, &(struct guest_hook_site){.kind = GUEST_HOOK_LOCK, .insn = *after}))
		locks_expect_result(p->d->locks, after->addr, function);
}

void lock_hooks_may_rest(struct detect *d, const struct guest_hook_site *site)
{
	pthread_mutex_lock(&d->lock);
	lock_load_add(locks_load(d->locks), site);
	pthread_mutex_unlock(&d->lock);
}

/*
 * Let this hook be removed for a rest, but not if it sees an object freed or allocated: if that were missed, two objects at one
 * address would seem to be one. The end of an object that is reused may be missed: this can only lead to a wrong suspicion, and
 * such ends come with each request of a disk.
 */
static void may_rest(struct planting *p, const struct lock_function *function, const struct guest_hook_site *site)
{
	if (function->op != LOCK_FREE && function->op != LOCK_NEW)
		lock_hooks_may_rest(p->d, site);
}

static void plant_call(struct planting *p, const struct lock_function *function, const struct insn *call,
		       const struct insn *after)
{
	const struct guest_hook_site site = {.kind = GUEST_HOOK_LOCK, .insn = *call};

	if (function->op != LOCK_NEW && !lock_hooks_plant(p->d, &site)) {
		p->refused++;
		p->unseen |= function->op == LOCK_TAKE || function->op == LOCK_TRY;
		return;
	}
	may_rest(p, function, &site);
	p->planted++;
	if (function->op == LOCK_TAKE || function->op == LOCK_TRY) {
		p->takes++;
		caller_hooks_take(&p->graph, call);
	}
	p->handovers += function->op == LOCK_RELEASE || function->op == LOCK_ACQUIRE;
	if ((function->op == LOCK_TRY || function->op == LOCK_NEW || function->op == LOCK_ACQUIRE || function->at_return) &&
	    call->bytes[0] == X86_CALL && after)
		plant_result(p, function, after);
}

/*
 * Plant a lock hook if an inlined lock function begins here. Without the hook, a release is missed and the lock seems to be
 * held for longer.
 */
static void plant_inlined(struct planting *p, const struct symbol *fn, const struct insn *insn, const uint8_t *code, size_t len)
{
	const struct lock_function *function = locks_inlined(p->d->locks, fn->addr, code, len);
	const struct guest_hook_site site = {.kind = GUEST_HOOK_LOCK, .insn = *insn};

	if (!function)
		return;
	if (locks_expect_inlined(p->d->locks, insn->addr, function) || !lock_hooks_plant(p->d, &site)) {
		p->refused++;
		return;
	}
	may_rest(p, function, &site);
	p->planted++;
}

/* Plant the hook at which a function's activations begin, if begin->plant is set. Returns whether the hook is there. */
static bool plant_begin(struct detect *d, const struct section_begin *begin)
{
	const struct guest_hook_site site = {.kind = GUEST_HOOK_LOCK, .insn = begin->insn};

	if (!begin->plant)
		return true;
	if (!lock_hooks_plant(d, &site))
		return false;
	lock_hooks_may_rest(d, &site);
	return true;
}

/*
 * Follow the critical sections of a function with at least two calls that take a lock or try to, if a hook can see where each
 * of its activations begins.
 */
static void follow_sections(struct planting *p, const struct symbol *fn, const uint8_t *code)
{
	struct section_begin begin;

	if (!section_hooks_begin(p->d, fn, code, 0, &begin) || !plant_begin(p->d, &begin))
		return;
	locks_follow_sections(p->d->locks, &(struct section_function){fn->addr, fn->addr + fn->size, begin.addr, 0});
	caller_hooks_followed(&p->graph);
}

/* Plant hooks at the jumps from this function's end to functions with sections. Without such a hook, sections are missed. */
static void plant_jumps(struct detect *d, const struct caller_graph *g, size_t function, const uint8_t *code)
{
	const struct caller_function *f = &g->functions[function];
	const struct caller_edge *jump = caller_jump(g, function, 0);
	struct guest_hook_site site = {.kind = GUEST_HOOK_LOCK};

	for (; jump; jump = caller_jump(g, function, (size_t)(jump - g->edges) + 1)) {
		uint64_t at = jump->at - f->start;

		if (insn_decode(d->sampler.decoder, code + at, f->size - at, jump->at, &site.insn) &&
		    lock_hooks_plant(d, &site))
			lock_hooks_may_rest(d, &site);
	}
}

/* Follow the sections of a function that makes some of them in functions that it calls. */
static void follow_caller(struct detect *d, const struct caller_graph *g, size_t function)
{
	const struct caller_function *f = &g->functions[function];
	const struct symbol fn = {.addr = f->start, .size = f->size};
	uint8_t *code = malloc(f->size + 1);
	struct section_begin begin;
	uint32_t frame;

	if (code && detect_code(d, f->start, code, f->size) == 0 && section_hooks_begin(d, &fn, code, f->first_call, &begin)) {
		guest_frames(d->guest, &begin.addr, 1, &frame);
		if (frame && (f->sections || plant_begin(d, &begin))) {
			locks_follow_sections(d->locks,
					      &(struct section_function){f->start, f->start + f->size, begin.addr, frame});
			plant_jumps(d, g, function, code);
		}
	}
	free(code);
}

static void follow_callers(struct detect *d, struct caller_graph *g)
{
	if (!caller_hooks_sites(d, g))
		return;
	for (size_t i = 0; i < g->function_count; i++) {
		if (caller_makes_sections(&g->functions[i]))
			follow_caller(d, g, i);
	}
}

/* Plant lock hooks at this function's calls of lock functions, and where one is inlined. */
static void plant_function(struct planting *p, const struct symbol *fn)
{
	uint8_t *code = malloc(fn->size + 1);
	struct insn insn[2];

	p->takes = 0;
	caller_hooks_function(&p->graph, fn);
	if (!code || detect_code(p->d, fn->addr, code, fn->size)) {
		free(code);
		p->refused++;
		p->unseen = true;
		return;
	}
	for (uint64_t at = 0; at < fn->size;) {
		const struct lock_function *function;
		uint64_t next = at + insn_decode(p->d->sampler.decoder, code + at, fn->size - at, fn->addr + at, &insn[0]);

		function = next > at ? locks_called(p->d->locks, &insn[0]) : NULL;
		if (function) {
			bool more = next < fn->size &&
				    insn_decode(p->d->sampler.decoder, code + next, fn->size - next, fn->addr + next, &insn[1]);

			plant_call(p, function, &insn[0], more ? &insn[1] : NULL);
		} else if (next > at) {
			plant_inlined(p, fn, &insn[0], code + at, fn->size - at);
			caller_hooks_insn(&p->graph, p->d->sampler.decoder, &insn[0], code + next, fn->size - next);
		}
		at = next > at ? next : at + 1;
	}
	if (p->takes > 1)
		follow_sections(p, fn, code);
	free(code);
}

/*
 * Send a message that names the functions of the user's list that the guest does not have. With a misspelt name, locks would be
 * missed silently.
 */
static void say_unknown(struct detect *d)
{
	const char *names[4];
	size_t n = locks_unknown(d->locks, names, 4);
	char more[32] = "";

	if (n > 4)
		snprintf(more, sizeof(more), " and %zu more", n - 4);
	if (n)
		detect_message(d, "the guest does not have these functions of your list of lock functions: %s%s%s%s%s%s%s%s",
			       names[0], n > 1 ? ", " : "", n > 1 ? names[1] : "", n > 2 ? ", " : "", n > 2 ? names[2] : "",
			       n > 3 ? ", " : "", n > 3 ? names[3] : "", more);
}

/* Hooks at calls of lock functions were planted. `complete`: as for locks_planted(). */
static void plan_again(struct detect *d, bool complete)
{
	d->sampler.hooks_again_ns = monotonic_ns() + AGAIN_NS;
	d->sampler.hooks_again_more = false;
	d->sampler.forget_locks = true;
	locks_planted(d->locks, complete, UINT64_MAX);
}

void lock_hooks_again(struct detect *d)
{
	if (!d->sampler.hooks_again_ns || monotonic_ns() < d->sampler.hooks_again_ns)
		return;
	d->sampler.hooks_again_ns = d->sampler.hooks_again_more ? monotonic_ns() + AGAIN_NS : 0;
	d->sampler.hooks_again_more = false;
	hook_write_again(d);
	if (d->sampler.forget_locks)
		locks_forget(d->locks, monotonic_ns() + UNSURE_NS);
	d->sampler.forget_locks = false;
}

/* All lock hooks in this text are planted: report that to locks.c and to the user. */
static void planted(struct planting *p, const char *module)
{
	struct detect *d = p->d;
	const unsigned calls = p->planted - p->handovers;

	if (p->planted || p->refused)
		plan_again(d, !p->unseen);
	if (calls || p->refused) {
		detect_message(
			d, "%s: %u calls of lock functions are followed%s", module[0] ? module : "kernel", calls,
			p->unseen ? "; others cannot be followed, so locksets are unknown, and there will be no suspicions"
			: p->refused
				? "; others cannot be followed, so a lock may seem held, or an object in use, after its end"
				: "");
	} else if (d->config.module || !module[0]) {
		detect_message(d, "%s: the sampled code calls no lock function", module[0] ? module : "kernel");
	} else {
		return;
	}
	say_unknown(d);
}

void lock_hooks_text_came(struct detect *d, const char *module, const struct symtab *symbols, uint64_t start, uint64_t end)
{
	struct planting p = {.d = d};
	struct symbol fn;

	locks_learn(d->locks, module, symbols);
	if (!pool_module_fits(module, d->config.module))
		return;
	/*
	 * Enter the target once for all functions. Otherwise the guest would hit the first lock hooks while more are being
	 * planted, and slow the planting down.
	 */
	target_enter(d->target);
	for (size_t i = 0; pool_next_function(d->sampler.pool, symbols, start, end, &i, &fn);)
		plant_function(&p, &fn);
	follow_callers(d, &p.graph);
	target_leave(d->target);
	caller_graph_fini(&p.graph);
	/* The guest began to free the module meanwhile: no code in it runs any more, so it takes no lock unseen. */
	if (module[0] && guest_text_state(d->guest, start) == GUEST_TEXT_GOING)
		p.unseen = false;
	planted(&p, module);
}

/* ---- when lock hooks cost too much ---- */

/*
 * Copy the list of the lock hooks that lock_hooks_limit() removes and plants again, so that the sampler can walk the list
 * without d->lock. Returns NULL if there is no such hook, or if memory runs out.
 */
static struct guest_hook_site *resting_sites(struct detect *d, size_t *count)
{
	const struct lock_load *load = locks_load(d->locks);
	struct guest_hook_site *sites = NULL;

	pthread_mutex_lock(&d->lock);
	*count = load->count;
	if (load->count)
		sites = malloc(load->count * sizeof(*sites));
	if (sites)
		memcpy(sites, load->sites, load->count * sizeof(*sites));
	pthread_mutex_unlock(&d->lock);
	return sites;
}

static void take_out(struct detect *d)
{
	size_t count;
	struct guest_hook_site *sites = resting_sites(d, &count);

	target_enter(d->target);
	locks_rest(d->locks);
	for (size_t i = 0; sites && i < count; i++)
		hook_remove(d, sites[i].insn.addr);
	target_leave(d->target);
	free(sites);
}

/* Plant the removed lock hooks again. If memory runs out, do nothing: the next iteration tries again. */
static void put_back(struct detect *d)
{
	size_t count;
	struct guest_hook_site *sites = resting_sites(d, &count);
	bool complete = true;

	if (count && !sites)
		return;
	target_enter(d->target);
	for (size_t i = 0; i < count; i++)
		complete &=
			lock_hooks_plant(d, &sites[i]) || guest_text_state(d->guest, sites[i].insn.addr) != GUEST_TEXT_FINAL;
	target_leave(d->target);
	free(sites);
	pthread_mutex_lock(&d->lock);
	locks_load(d->locks)->rest_until_ns = 0;
	pthread_mutex_unlock(&d->lock);
	plan_again(d, complete);
}

void lock_hooks_limit(struct detect *d)
{
	struct lock_load *load = locks_load(d->locks);
	bool too_much, first;
	uint64_t rest_until;

	pthread_mutex_lock(&d->lock);
	too_much = load->too_much;
	first = !load->rests;
	rest_until = load->rest_until_ns;
	pthread_mutex_unlock(&d->lock);
	if (rest_until) {
		if (monotonic_ns() >= rest_until)
			put_back(d);
	} else if (too_much) {
		take_out(d);
		if (first)
			detect_message(d, "interrupts came so fast that a CPU of the guest made no progress: when this "
					  "happens, locks are not followed for some seconds");
	}
}
