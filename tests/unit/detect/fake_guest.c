// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/detect/fake_guest.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int guest_poll(struct guest *g, struct err *err)
{
	atomic_fetch_add(&g->polls, 1);
	return g->ready < 0 ? err_set(err, EXIT_INPUT, "symbols of another kernel") : g->ready;
}

enum guest_progress guest_progress(const struct guest *g)
{
	return g->ready > 0 ? GUEST_READY : GUEST_SEARCHED;
}

uint64_t guest_slide(const struct guest *g)
{
	(void)g;
	return 0;
}

const char *guest_symbols_refused(const struct guest *g)
{
	(void)g;
	return NULL;
}

const char *guest_symbol_source(const struct guest *g)
{
	(void)g;
	return "a fake";
}

size_t guest_build_id(const struct guest *g, const uint8_t **id)
{
	*id = g->build_id;
	return g->build_id_len;
}

const struct symtab *guest_symtab(const struct guest *g)
{
	return g->symtab;
}

int guest_read(const struct guest *g, uint64_t gva, void *buf, size_t len)
{
	return target_read(&g->ft->target, g->cr3, 0, gva, buf, len);
}

int guest_translate(const struct guest *g, uint64_t gva, uint64_t *gpa)
{
	return target_translate(&g->ft->target, g->cr3, 0, gva, gpa);
}

bool guest_may_sample(const struct guest *g, const struct symbol *function)
{
	return !g->not_sampled || fnmatch(g->not_sampled, function->name, 0) != 0;
}

bool guest_serves_all(const struct guest *g, const char *function)
{
	return g->serves_all && fnmatch(g->serves_all, function, 0) == 0;
}

bool guest_on_stack(const struct x86_regs *regs, uint64_t gva)
{
	return ((regs->gpr[X86_RSP] ^ gva) & ~(FAKE_STACK_SIZE - 1)) == 0;
}

uint64_t guest_stack_end(const struct x86_regs *regs)
{
	return (regs->gpr[X86_RSP] & ~(FAKE_STACK_SIZE - 1)) + FAKE_STACK_SIZE;
}

unsigned guest_stacks(const struct guest *g, const struct x86_regs *regs, struct guest_stack out[GUEST_STACKS_MAX])
{
	unsigned n = 0;

	out[n++] = (struct guest_stack){regs->gpr[X86_RSP], guest_stack_end(regs)};
	while (n <= g->interrupted_count && n < GUEST_STACKS_MAX) {
		out[n] = g->interrupted[n - 1];
		n++;
	}
	return n;
}

void guest_frames(const struct guest *g, const uint64_t *pcs, size_t n, uint32_t *frames)
{
	(void)pcs;
	for (size_t i = 0; i < n; i++)
		frames[i] = g->frame;
}

/* Take the first used word of each stack for a return address. */
void guest_unwind(const struct guest *g, const struct x86_regs *regs, const struct guest_context *context,
		  const struct unwind_stack *stacks, unsigned n, struct guest_calls *out)
{
	(void)context;
	*out = (struct guest_calls){.frames = out->frames, .count = 1, .origin = g->origin, .end = UNWIND_FIRST};
	out->frames[0] = (struct guest_frame){.pc = regs->rip, .reliable = true};
	guest_symbol_at(g, regs->rip, &out->frames[0].symbol);
	for (unsigned i = 0; i < n; i++) {
		struct guest_frame *frame = &out->frames[out->count];

		out->used_from[i] = i && stacks[i].len > g->unused ? g->unused : 0;
		if (stacks[i].len < out->used_from[i] + sizeof(frame->pc))
			continue;
		memcpy(&frame->pc, stacks[i].bytes + out->used_from[i], sizeof(frame->pc));
		frame->sp = stacks[i].gva + out->used_from[i] + sizeof(frame->pc);
		frame->reliable = true;
		frame->kind = UNWIND_CALL;
		guest_symbol_at(g, frame->pc - 1, &frame->symbol);
		out->count++;
	}
}

void guest_context_brief(const struct guest *g, const struct x86_regs *regs, struct guest_context *out)
{
	*out = g->context;
	out->irqs_off = !(regs->rflags & X86_RFLAGS_IF);
}

void guest_context(const struct guest *g, const struct x86_regs *regs, struct guest_context *out)
{
	guest_context_brief(g, regs, out);
}

void guest_cancel_polls(struct guest *g)
{
	atomic_store(&g->polls_cancelled, true);
}

static void hang(struct guest *g)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	atomic_fetch_add(&g->hanging, 1);
	for (unsigned ms = 0; !atomic_load(&g->polls_cancelled); ms++) {
		nanosleep(&pause, NULL);
		if (ms < 20000)
			continue;
		atomic_store(&g->hung_too_long, true);
		break;
	}
	atomic_fetch_sub(&g->hanging, 1);
}

bool guest_poll_modules(struct guest *g, const struct guest_module_events *events)
{
	bool here = atomic_load(&g->module_here);

	atomic_fetch_add(&g->module_polls, 1);
	if (atomic_load(&g->poll_hangs))
		hang(g);
	if (atomic_exchange(&g->module_reported, here) == here)
		return true;
	if (here)
		events->loaded(events->ctx, &g->module);
	else
		events->gone(events->ctx, &g->module);
	return true;
}

size_t guest_hook_sites(const struct guest *g, struct guest_hook_site **out)
{
	*out = g->hook_count ? malloc(g->hook_count * sizeof(**out)) : NULL;
	if (!*out)
		return 0;
	memcpy(*out, g->hooks, g->hook_count * sizeof(**out));
	return g->hook_count;
}

bool guest_module_going(struct guest *g, const struct x86_regs *regs, uint64_t *base, uint64_t *size)
{
	(void)regs;
	*base = g->going_base;
	*size = g->going_size;
	atomic_store(&g->gone_base, g->going_base);
	atomic_store(&g->gone_size, g->going_size);
	return g->going_size != 0;
}

enum guest_text guest_text_state(struct guest *g, uint64_t addr)
{
	return addr - atomic_load(&g->gone_base) < atomic_load(&g->gone_size) ? GUEST_TEXT_GOING : GUEST_TEXT_FINAL;
}

int guest_symbol_at(const struct guest *g, uint64_t addr, struct guest_symbol *out)
{
	const struct guest_module *m = &g->module;
	bool in_module = atomic_load(&g->module_reported) && addr - m->base < m->size;
	const struct symtab *symtab = in_module ? m->symbols : g->symtab;
	struct symbol symbol;

	if (!symtab || symtab_at(symtab, addr, &symbol))
		return -1;
	*out = (struct guest_symbol){.addr = symbol.addr, .size = symbol.size};
	snprintf(out->name, sizeof(out->name), "%s", symbol.name);
	snprintf(out->module, sizeof(out->module), "%s", g->text_module ? g->text_module : "");
	return 0;
}

bool guest_is_return_thunk(const struct guest *g, uint64_t gva)
{
	struct guest_symbol thunk;

	return guest_symbol_at(g, gva, &thunk) == 0 && thunk.addr == gva && fnmatch("*return_thunk", thunk.name, 0) == 0;
}

uint32_t guest_pointer_offset(const struct guest *g, const char *type, const char *member)
{
	(void)type;
	(void)member;
	return g->pointer_offset;
}

uint64_t guest_symbol_address(const struct guest *g, const char *module, const char *name)
{
	(void)module;
	return g->symtab ? symtab_addr(g->symtab, name) : 0;
}

bool guest_poll_complaints(struct guest *g, bool last, void (*found)(void *ctx, const struct complaint *c), void *ctx)
{
	const struct complaint *c = atomic_exchange(&g->complaint, NULL);

	(void)last;
	if (c)
		found(ctx, c);
	return true;
}

void guest_taint(const struct guest *g, struct guest_taint *out)
{
	*out = g->taint;
}

uint64_t guest_mapped_at(const struct guest *g, uint64_t gpa)
{
	return gpa - g->mapped_gpa < g->mapped_size ? gpa - g->mapped_gpa + g->mapped_gva : 0;
}

void guest_page_state(const struct guest *g, uint64_t gpa, struct guest_page_state *out)
{
	(void)g;
	out->gpa = gpa;
}

void guest_memory_at(const struct guest *g, const struct x86_regs *regs, const struct guest_page_state *page, uint64_t gva,
		     uint32_t size, struct guest_memory *out)
{
	(void)page;
	*out = g->memory;
	out->symbol.addr = regs->rip;
	out->object = gva;
	out->object_size = size;
}
