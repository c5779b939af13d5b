// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/detect/detect_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/detect/core/state.h"
#include "hv/detect/window/window.h"

static void map_machine(struct rig *r)
{
	struct fake_target *ft = r->ft;
	uint64_t cr3 = fake_page(ft);

	fake_map(ft, cr3, 4, RIG_TEXT, RIG_TEXT_GPA, RIG_TEXT_SIZE, 12);
	fake_map(ft, cr3, 4, RIG_DATA, RIG_DATA_GPA, RIG_DATA_SIZE, 12);
	fake_map(ft, cr3, 4, RIG_ALIAS, RIG_DATA_GPA, RIG_DATA_SIZE, 12);
	fake_map(ft, cr3, 4, RIG_USER, RIG_USER_GPA, RIG_DATA_SIZE, 12);
	fake_map(ft, cr3, 4, RIG_IO, 1ull << 40, X86_PAGE_SIZE, 12);
	/* Guard pages between them. */
	for (unsigned cpu = 0; cpu < ft->target.caps.cpus; cpu++)
		fake_map(ft, cr3, 4, RIG_STACKS + cpu * 2 * FAKE_STACK_SIZE, RIG_STACKS_GPA + cpu * FAKE_STACK_SIZE,
			 FAKE_STACK_SIZE, 12);
	r->guest.cr3 = cr3;
}

struct rig *rig_new(unsigned cpus, unsigned watches)
{
	struct rig *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->ft = fake_target_new(cpus, watches);
	r->decoder = insn_decoder_new();
	if (!r->ft || !r->decoder)
		goto fail;
	r->guest.ft = r->ft;
	r->guest.context = (struct guest_context){.pid = 1, .known = true, .comm = "rig"};
	map_machine(r);
	r->guest.mapped_gpa = RIG_DATA_GPA;
	r->guest.mapped_gva = RIG_DATA;
	r->guest.mapped_size = RIG_DATA_SIZE;
	r->config = (struct detect_config){.seed = 1, .rate = 1000, .delay_ns = RIG_DELAY_NS};
	r->d = detect_new(&r->ft->target, &r->guest, &r->config, &r->sink, NULL);
	if (!r->d)
		goto fail;
	r->ft->target.client = detect_client(r->d);
	r->d->life.started_ns = monotonic_ns();
	return r;
fail:
	rig_free(r);
	return NULL;
}

void rig_remake(struct rig *r)
{
	detect_free(r->d);
	r->d = detect_new(&r->ft->target, &r->guest, &r->config, &r->sink, NULL);
	assert_non_null(r->d);
	r->ft->target.client = detect_client(r->d);
}

void rig_free(struct rig *r)
{
	if (!r)
		return;
	detect_free(r->d);
	insn_decoder_free(r->decoder);
	symtab_free(r->guest.symtab);
	fake_target_free(r->ft);
	free(r);
}

void rig_code(struct rig *r, uint64_t offset, const void *code, size_t len)
{
	assert_true(offset + len <= RIG_TEXT_SIZE);
	fake_write(r->ft, RIG_TEXT_GPA + offset, code, len);
}

void rig_functions(struct rig *r, const struct symbol *functions, size_t n)
{
	symtab_free(r->guest.symtab);
	r->guest.symtab = symtab_from_array(functions, n, NULL);
	assert_non_null(r->guest.symtab);
}

void rig_plant(struct rig *r, uint64_t offset, const void *code, size_t len)
{
	struct insn insn;
	struct point *point;

	rig_code(r, offset, code, len);
	assert_int_equal(insn_decode(r->decoder, code, len, RIG_TEXT + offset, &insn), len);
	pthread_mutex_lock(&r->d->lock);
	point = points_plant(&r->d->points, &insn, RIG_TEXT_GPA + offset);
	pthread_mutex_unlock(&r->d->lock);
	assert_non_null(point);
}

struct detect_stats rig_stats(struct rig *r)
{
	struct detect_stats stats;

	detect_stats(r->d, &stats);
	return stats;
}

unsigned rig_open_windows(struct rig *r)
{
	unsigned n;

	pthread_mutex_lock(&r->d->lock);
	n = r->d->hit.open_windows;
	pthread_mutex_unlock(&r->d->lock);
	return n;
}

bool rig_window_is_open(struct rig *r, unsigned cpu)
{
	bool open;

	pthread_mutex_lock(&r->d->lock);
	open = r->d->hit.windows[cpu].open;
	pthread_mutex_unlock(&r->d->lock);
	return open;
}

uint64_t rig_window_ns(struct rig *r, unsigned cpu)
{
	uint64_t ns;

	pthread_mutex_lock(&r->d->lock);
	ns = r->d->hit.windows[cpu].hold_ns;
	pthread_mutex_unlock(&r->d->lock);
	return ns;
}

void rig_rest(struct rig *r, unsigned cpu, uint64_t until_ns)
{
	pthread_mutex_lock(&r->d->lock);
	r->d->hit.irqs_off_rest[cpu] = until_ns;
	pthread_mutex_unlock(&r->d->lock);
}

bool rig_may_be_held(struct rig *r, unsigned cpu, uint64_t now)
{
	bool may;

	pthread_mutex_lock(&r->d->lock);
	may = window_cpu_may_be_held(r->d, cpu, now);
	pthread_mutex_unlock(&r->d->lock);
	return may;
}

void rig_was_held(struct rig *r, unsigned cpu, uint64_t ns)
{
	pthread_mutex_lock(&r->d->lock);
	allowance_spend(&r->d->hit.held[cpu], (double)ns);
	pthread_mutex_unlock(&r->d->lock);
}

bool rig_has_point(struct rig *r, uint64_t offset)
{
	bool has;

	pthread_mutex_lock(&r->d->lock);
	has = points_find(&r->d->points, RIG_TEXT + offset);
	pthread_mutex_unlock(&r->d->lock);
	return has;
}

void rig_armed(struct rig *r, uint64_t *addresses, unsigned n)
{
	const struct points *points = &r->d->points;

	pthread_mutex_lock(&r->d->lock);
	assert_true(points->count >= n);
	for (unsigned i = 0; i < n; i++)
		addresses[i] = points->slots[points->armed[i]].addr;
	pthread_mutex_unlock(&r->d->lock);
}

unsigned rig_slots_in_use(struct rig *r)
{
	unsigned n;

	pthread_mutex_lock(&r->d->lock);
	n = (unsigned)__builtin_popcount(r->d->hit.slots_used);
	pthread_mutex_unlock(&r->d->lock);
	return n;
}

unsigned rig_int3s(const struct rig *r, uint64_t offset, uint64_t size)
{
	unsigned n = 0;

	for (uint64_t at = offset; at < offset + size; at++)
		n += rig_text_byte(r, at) == X86_INT3;
	return n;
}

uint8_t rig_text_byte(const struct rig *r, uint64_t offset)
{
	return fake_byte(r->ft, RIG_TEXT_GPA + offset);
}

struct x86_regs rig_regs(const struct rig *r, unsigned cpu, uint64_t offset)
{
	struct x86_regs regs = {
		.rip = RIG_TEXT + offset,
		.rflags = X86_RFLAGS_IF | 2,
		.cr3 = r->guest.cr3,
		.gs_base = RIG_DATA,
		.cs = 0x10,
		.ss = 0x18,
	};

	regs.gpr[X86_RSP] = RIG_STACKS + cpu * 2 * FAKE_STACK_SIZE + FAKE_STACK_SIZE / 2;
	regs.gpr[X86_RDI] = RIG_DATA;
	regs.gpr[X86_RSI] = RIG_DATA + 0x100;
	return regs;
}

struct target_action rig_hit(struct rig *r, unsigned cpu, struct x86_regs *regs)
{
	const struct target_client *client = detect_client(r->d);

	return client->on_breakpoint(client->ctx, cpu, regs);
}

struct target_action rig_watch_hit(struct rig *r, unsigned cpu, struct x86_regs *regs, uint32_t cookie)
{
	const struct target_client *client = detect_client(r->d);

	return client->on_watch(client->ctx, cpu, regs, &cookie, 1);
}

struct target_action rig_hold_end(struct rig *r, unsigned cpu, struct x86_regs *regs)
{
	const struct target_client *client = detect_client(r->d);

	return client->on_hold_end(client->ctx, cpu, regs);
}

void rig_store(struct rig *r, uint64_t offset, const void *bytes, size_t len)
{
	fake_write(r->ft, RIG_DATA_GPA + offset, bytes, len);
}

const struct observation *rig_observation(struct rig *r)
{
	const struct observation *o;

	pthread_mutex_lock(&r->d->lock);
	o = queue_next(&r->d->hit.observations);
	pthread_mutex_unlock(&r->d->lock);
	return o;
}

uint32_t rig_cookie(struct rig *r, unsigned slot)
{
	assert_true(r->ft->watched[slot]);
	return r->ft->watches[slot].cookie;
}
