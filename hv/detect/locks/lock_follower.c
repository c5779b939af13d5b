// SPDX-License-Identifier: GPL-2.0-or-later
/* The thread that describes lock moments (lock_follower.h). The subject is the sampled code. */
#include "hv/detect/locks/lock_follower.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/fnv1a.h"
#include "hv/detect/core/code.h"
#include "hv/detect/core/state.h"
#include "hv/detect/core/unwinding.h"
#include "hv/detect/locks/decision.h"
#include "hv/detect/locks/decision_bits.h"
#include "hv/detect/locks/decision_results.h"
#include "hv/detect/locks/decision_test.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/steer/pool.h"
#include "hv/sandbox/sandbox.h"

/*
 * Number of instructions for which decide() remembers its result. If two instructions share an entry, their code is read
 * again.
 */
#define DECISIONS_KEPT 4096u
/* A value is followed in at most this many bytes of its function before the instruction, and as many after it. */
#define CODE_AROUND 2048u

/*
 * Collect the functions of the subject (the sampled code) on the stack of the innermost context. Frames after an unreliable one
 * are left out, because an earlier call may have left them on the stack.
 */
static void find_path(const struct detect *d, const struct race_side *side, struct lock_moment *m)
{
	const struct guest_calls *calls = &side->calls;

	for (unsigned i = 0; i < calls->count; i++) {
		const struct guest_frame *frame = &calls->frames[i];

		if (frame->context != calls->frames[0].context || !frame->reliable)
			break;
		if (!locks_of_subject(d->locks, &frame->symbol))
			continue;
		if (m->path_count < LOCK_PATH_MAX) {
			m->path[m->path_count++] = frame->symbol;
		} else {
			m->path[LOCK_PATH_MAX - 1] = frame->symbol;
			m->path_cut = true;
		}
	}
}

/*
 * Learn callbacks from the stack: functions of the subject whose caller is a function of the kernel that calls callbacks. No
 * call of the subject shows a callback that was handed over before the run began, such as the handler of a driver's interrupt.
 */
static void find_callbacks(const struct detect *d, const struct race_side *side)
{
	const struct guest_calls *calls = &side->calls;

	for (unsigned i = 0; i + 1 < calls->count; i++) {
		const struct guest_frame *callee = &calls->frames[i], *caller = callee + 1;

		if (caller->context != calls->frames[0].context || !caller->reliable)
			break;
		/* Text that cannot have hooks yet is left for later: the detector will see the callback again. */
		if (locks_of_subject(d->locks, &callee->symbol) && caller->kind == UNWIND_CALL &&
		    guest_text_state(d->guest, callee->symbol.addr) == GUEST_TEXT_FINAL)
			locks_called_back(d->locks, &caller->symbol, &callee->symbol);
	}
}

static void describe_memory(const struct detect *d, const struct x86_regs *regs, uint64_t gva, uint64_t gpa, uint32_t size,
			    struct guest_memory *out)
{
	struct guest_page_state page;

	guest_page_state(d->guest, gpa, &page);
	guest_memory_at(d->guest, regs, &page, gva, size, out);
}

/*
 * Name the held locks without a call in the subject (the sampled code): no moment of kind LOCK_MOMENT_TAKE has named them.
 * Locks that were taken outside of the subject are global variables, and guest_memory_at() needs no state of the page to name a
 * global variable.
 */
static void describe_outer(const struct detect *d, const struct race_side *side, struct lock_moment *m)
{
	const struct guest_page_state page = {0};

	for (unsigned i = 0; i < m->locks.count; i++) {
		if (!m->locks.held[i].taken_at)
			guest_memory_at(d->guest, &side->regs, &page, m->locks.held[i].gva, 1, &m->held_memory[i]);
	}
}

/*
 * Whether the moment's code still has a name in the subject. If the code's module was unloaded since, the moment would be
 * reported without a function, or in a function that was loaded at the same address.
 */
static bool has_name(const struct detect *d, const struct lock_moment *m)
{
	return m->symbol.name[0] && pool_module_fits(m->symbol.module, d->config.module);
}

/* What decide() found out about one instruction. */
struct decision {
	uint64_t pc, function;
	bool decides, steps, same_results, stores_back;
	uint64_t bits;
	struct lock_check check;
	struct lock_test test;
};

/* The results of decide() for recent instructions, so that the code around each instruction is read once. */
struct decisions {
	struct insn_decoder *decoder; /* NULL if memory ran out: then decide() finds nothing out */
	uint8_t code[2 * CODE_AROUND];
	struct decision known[DECISIONS_KEPT];
};

/*
 * Returns whether the instruction at `pc`, in the function that starts at `start`, is a step along a list (decision.h). `code`:
 * the `len` bytes from the instruction on.
 */
static bool steps(struct detect *d, struct insn_decoder *decoder, const uint8_t *code, size_t len, uint64_t pc, uint64_t start)
{
	uint8_t before[DECISION_LOOP_MAX];
	struct decision_step step;
	uint64_t loop = decision_loop(decoder, code, len, pc, &step);

	return loop >= start && loop && detect_code(d, loop, before, pc - loop) == 0 &&
	       decision_links(decoder, before, pc - loop, loop, &step);
}

static bool is_return_thunk(void *ctx, uint64_t gva)
{
	return guest_is_return_thunk(ctx, gva);
}

/* Read the code around the instruction at `pc`, in this function, and fill in *out. */
static void read_decision(struct detect *d, struct decisions *k, uint64_t pc, const struct guest_symbol *function,
			  struct decision *out)
{
	uint64_t before = pc - function->addr, after = function->size - before;
	bool whole = before <= CODE_AROUND && after <= CODE_AROUND;
	struct decision_code code = {.bytes = k->code};
	const struct decision_returns returns = {is_return_thunk, d->guest};
	const uint8_t *here;
	size_t len;

	before = before < CODE_AROUND ? before : CODE_AROUND;
	after = after < CODE_AROUND ? after : CODE_AROUND;
	code.addr = pc - before;
	code.len = before + after;
	if (detect_code(d, code.addr, k->code, code.len))
		return;
	here = k->code + before;
	len = after < DECISION_CODE_MAX ? after : DECISION_CODE_MAX;
	out->decides = decision_by(k->decoder, &code, pc);
	out->stores_back = decision_stores_back(k->decoder, &code, pc);
	out->steps = steps(d, k->decoder, here, len, pc, function->addr);
	if (!out->decides)
		return;
	out->bits = whole ? decision_bits(k->decoder, &code, pc) : UINT64_MAX;
	decision_check(k->decoder, here, len, pc, &out->check);
	decision_test(k->decoder, &code, pc, &out->test);
	out->same_results = whole && decision_same_results(k->decoder, &code, pc, &returns);
}

/*
 * Find out whether the code decides by what the instruction at `pc` of this function reads, by which bits of that, and with
 * which constant it compares that (decision.h, decision_bits.h). A result is remembered with a hash of the function, because a
 * module that is loaded later may have other text at the same address.
 */
static void decide(struct detect *d, struct decisions *k, uint64_t pc, const struct guest_symbol *function,
		   struct lock_datum *datum)
{
	uint64_t id = function->addr ^ fnv1a(FNV1A_START, function->name);
	struct decision *known = &k->known[pc % DECISIONS_KEPT];

	if (pc - function->addr >= function->size || !k->decoder)
		return;
	if (known->pc != pc || known->function != id) {
		*known = (struct decision){.pc = pc, .function = id};
		read_decision(d, k, pc, function, known);
	}
	datum->decides = known->decides;
	datum->steps = known->steps;
	datum->bits = known->bits;
	datum->check = known->check;
	datum->test = known->test;
	datum->same_results = known->same_results;
	datum->stores_back = known->stores_back;
}

/* Fill in *m from *raw. Returns false when the moment's code has no name any more. */
static bool describe(struct detect *d, struct decisions *k, struct raw_moment *raw, struct lock_moment *m)
{
	struct race_side *side = &raw->side;
	uint64_t gpa;

	*m = (struct lock_moment){.number = raw->number,
				  .kind = raw->kind,
				  .time_ns = raw->time_ns,
				  .cpu = side->cpu,
				  .context = side->context,
				  .pc = side->pc,
				  .locks = raw->locks,
				  .lock = raw->lock,
				  .reused = raw->reused,
				  .lock_base = raw->lock_base,
				  .data_count = raw->data_count,
				  .during_count = raw->during_count};
	memcpy(m->data, raw->data, sizeof(m->data));
	memcpy(m->during, raw->during, sizeof(m->during));
	if (raw->kind == LOCK_MOMENT_FREE)
		return true;
	guest_symbol_at(d->guest, side->pc, &m->symbol);
	if (!has_name(d, m))
		return false;
	unwinding_side(d->guest, side);
	find_path(d, side, m);
	find_callbacks(d, side);
	describe_outer(d, side, m);
	for (unsigned i = 0; i < m->data_count; i++) {
		describe_memory(d, &side->regs, m->data[i].gva, m->data[i].gpa, m->data[i].size, &m->data[i].memory);
		/* For movs or cmps, decide() does not say by which of the two operands the code decides. */
		if (m->data[i].rw == INSN_READ)
			decide(d, k, m->pc, &m->symbol, &m->data[i]);
	}
	if (raw->kind != LOCK_MOMENT_ACCESS && guest_translate(d->guest, m->lock.gva, &gpa) == 0)
		describe_memory(d, &side->regs, m->lock.gva, gpa, 1, &m->lock_memory);
	return true;
}

void *lock_follower_main(void *arg)
{
	struct detect *d = arg;
	struct lock_ring *ring = locks_ring(d->locks);
	struct decisions *k = calloc(1, sizeof(*k));
	struct lock_moment m;
	bool known;

	if (k)
		k->decoder = insn_decoder_new();
	sandbox_thread(SANDBOX_REPORTER);
	pthread_mutex_lock(&d->lock);
	for (;;) {
		struct raw_moment *raw = lock_ring_next(ring);

		if (!raw && d->life.reporter_stop)
			break;
		if (!raw) {
			pthread_cond_wait(&d->lock_moment, &d->lock);
			continue;
		}
		pthread_mutex_unlock(&d->lock);
		known = k && describe(d, k, raw, &m);
		if (known)
			d->sink.moment(d->sink.ctx, &m);
		pthread_mutex_lock(&d->lock);
		d->stats.moments_lost += !known;
		lock_ring_give_back(ring);
	}
	pthread_mutex_unlock(&d->lock);
	if (k)
		insn_decoder_free(k->decoder);
	free(k);
	return NULL;
}
