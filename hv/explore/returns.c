// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and compares the results of system calls (returns.h). */
#include "hv/explore/returns.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "symbols/insn/flow.h"
#include "symbols/insn/insn.h"

/*
 * Number of bytes of the kernel's entry for system calls in which the call of do_syscall_64() is looked for. In Linux 5.10 to
 * 7.1, this entry has about 200 bytes.
 */
#define ENTRY_MAX 1024u

/* Offsets in struct pt_regs (arch/x86/include/asm/ptrace.h). */
#define PT_REGS_AX 80u
#define PT_REGS_ORIG_AX 120u

/* The largest error number (MAX_ERRNO, include/linux/err.h). */
#define ERROR_MAX 4095

/* ---- where system calls end ---- */

/* Returns the address of the instruction after the call of `target`, or 0. */
static uint64_t after_call(const uint8_t *code, size_t len, uint64_t at, uint64_t target)
{
	struct insn_decoder *decoder = insn_decoder_new();
	struct insn insn;
	struct insn_branch branch;
	uint64_t found = 0;

	for (size_t done = 0; decoder && !found && done < len; done += insn.len) {
		if (!insn_decode(decoder, code + done, len - done, at + done, &insn))
			break;
		if (insn_direct_branch(&insn, &branch) && branch.call && branch.target == target)
			found = insn.addr + insn.len;
	}
	insn_decoder_free(decoder);
	return found;
}

void returns_find(struct returns_site *site, const struct kernel *kernel, const int32_t first_pid[2])
{
	const struct symtab *symbols = guest_symtab(kernel->guest);
	uint64_t entry = symtab_addr(symbols, "entry_SYSCALL_64"), target = symtab_addr(symbols, "do_syscall_64");
	uint8_t code[ENTRY_MAX];

	*site = (struct returns_site){.first_pid = {first_pid[0], first_pid[1]}, .guest = kernel->guest};
	if (entry && target && first_pid[0] >= 0 && first_pid[1] >= 0 &&
	    guest_read(kernel->guest, entry, code, sizeof(code)) == 0)
		site->pc = after_call(code, sizeof(code), entry, target);
}

/* ---- the results ---- */

/* Returns whether the call returns a process ID, an address or a time, which differ although nothing is wrong. */
static bool returns_own_value(int64_t number)
{
	static const int own[] = {
		SYS_brk,     SYS_clone,		  SYS_clone3, SYS_fork,	 SYS_getpgid, SYS_getpgrp, SYS_getpid,
		SYS_getppid, SYS_getsid,	  SYS_gettid, SYS_mmap,	 SYS_mremap,  SYS_setsid,  SYS_shmat,
		SYS_time,    SYS_set_tid_address, SYS_times,  SYS_vfork, SYS_wait4,
	};

	for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (own[i] == number)
			return true;
	return false;
}

/*
 * Returns whether the process belongs to the side: it is the side's first process, or was started later. The other side may
 * start processes later, too, but they run on the other CPU.
 */
static bool is_own(const struct returns_site *site, unsigned side, int32_t pid)
{
	return pid >= site->first_pid[side];
}

void returns_add(const struct returns_site *site, unsigned side, const struct x86_regs *regs, struct returned *out)
{
	struct guest_context context = {.pid = -1};
	uint64_t stack = regs->gpr[X86_RSP];
	int64_t number, value;

	if (out->count == RETURNS_MAX)
		return;
	guest_context(site->guest, regs, &context);
	/* The number is negative after rt_sigreturn(2), which restores the registers of code that made no call. */
	if (!is_own(site, side, context.pid) || guest_read(site->guest, stack + PT_REGS_ORIG_AX, &number, sizeof(number)) ||
	    number < 0 || guest_read(site->guest, stack + PT_REGS_AX, &value, sizeof(value)))
		return;
	out->call[out->count++] = (struct returned_call){
		.pid = context.pid,
		.number = (int32_t)number,
		.value = returns_own_value(number) && (value >= 0 || value < -ERROR_MAX) ? 0 : value,
	};
}

void returns_sort(struct returned *of)
{
	for (unsigned i = 1; i < of->count; i++) {
		const struct returned_call call = of->call[i];
		unsigned to = i;

		for (; to > 0 && of->call[to - 1].pid > call.pid; to--)
			of->call[to] = of->call[to - 1];
		of->call[to] = call;
	}
}

/* ---- the comparison ---- */

static bool is_same_call(const struct returned *a, const struct returned *b, unsigned i)
{
	if (i >= a->count || i >= b->count)
		return i >= a->count && i >= b->count;
	return a->call[i].number == b->call[i].number && a->call[i].value == b->call[i].value;
}

/* Returns the index of the first call whose results differ between the two lists, or RETURNS_MAX if there is none. */
static unsigned first_difference(const struct returned *a, const struct returned *b)
{
	for (unsigned i = 0; i < a->count || i < b->count; i++)
		if (!is_same_call(a, b, i))
			return i;
	return RETURNS_MAX;
}

void returns_add_serial(struct returns *r, unsigned order, const struct returned of[2])
{
	for (unsigned side = 0; side < 2; side++)
		if (r->added[order])
			r->unsettled[side] |= first_difference(&r->serial[order][side], &of[side]) < RETURNS_MAX;
		else
			r->serial[order][side] = of[side];
	r->added[order] = true;
}

bool returns_are_same(const struct returns *r, const struct returned a[2], const struct returned b[2])
{
	for (unsigned side = 0; side < 2; side++)
		if (!r->unsettled[side] && a[side].count < RETURNS_MAX && b[side].count < RETURNS_MAX &&
		    first_difference(&a[side], &b[side]) < RETURNS_MAX)
			return false;
	return true;
}

bool returns_differ(const struct returns *r, const struct returned of[2])
{
	return r->site.pc && !returns_are_same(r, r->serial[0], of) && !returns_are_same(r, r->serial[1], of);
}

/* Returns the number, from 1, of the call with the index `i` among the calls of the same process. */
static unsigned number_in_process(const struct returned_call *call, unsigned i)
{
	unsigned number = 1;

	for (; i > 0 && call[i - 1].pid == call[i].pid; i--)
		number++;
	return number;
}

static int64_t value_of(const struct returned *of, unsigned i)
{
	return i < of->count ? of->call[i].value : EXPLORE_NO_CALL;
}

/*
 * Returns the index of the call that returns_describe() stores, or RETURNS_MAX if there is none because the results are those
 * of both orders.
 */
static unsigned telling_call(const struct returned *own, const struct returned *ab, const struct returned *ba)
{
	unsigned of_ab = first_difference(own, ab), of_ba = first_difference(own, ba);

	if (of_ab == RETURNS_MAX || of_ba == RETURNS_MAX)
		return of_ab < of_ba ? of_ab : of_ba;
	return of_ab > of_ba ? of_ab : of_ba;
}

void returns_describe(const struct returns *r, const struct returned of[2], struct explore_return out[2])
{
	for (unsigned side = 0; side < 2; side++) {
		const struct returned *ab = &r->serial[0][side], *ba = &r->serial[1][side], *own = &of[side];
		unsigned i = telling_call(own, ab, ba);
		const struct returned *with = i < own->count ? own : i < ab->count ? ab : ba;

		out[side] = (struct explore_return){0};
		if (r->unsettled[side] || i == RETURNS_MAX)
			continue;
		out[side] = (struct explore_return){
			.call = number_in_process(with->call, i),
			.number = with->call[i].number,
			.value = value_of(own, i),
			.serial = {value_of(ab, i), value_of(ba, i)},
		};
	}
}
