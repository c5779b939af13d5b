// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes the kernel's code for a recording (code.h). */
#include "hv/explore/code.h"

#include <stdlib.h>
#include <string.h>

#include "hv/explore/stride.h"

/* Number of elements of the cache of decoded instructions: a power of two, larger than the working set of most system calls. */
#define CACHE 16384u
#define HLT 0xf4u

int code_open(struct code *c, struct drive *drive, unsigned side, const struct kernel *kernel, struct err *err)
{
	*c = (struct code){.drive = drive, .side = side, .kernel = kernel};
	c->cache = calloc(CACHE, sizeof(*c->cache));
	c->facts = calloc(CACHE, sizeof(*c->facts));
	return c->cache && c->facts ? 0 : err_set(err, EXIT_INTERNAL, "out of memory");
}

void code_close(struct code *c)
{
	free(c->cache);
	free(c->facts);
}

/* ---- instructions ---- */

/*
 * Returns whether the instruction's bytes in memory are still those that were decoded: the kernel changes code, for example for
 * a static branch. Also returns true if the bytes cannot be compared.
 */
static bool is_current(struct code *c, const struct insn *insn)
{
	const uint8_t *code = copy_text(&c->drive->copy, c->side, insn->addr);

	return !code || insn->addr % X86_PAGE_SIZE + insn->len > X86_PAGE_SIZE || memcmp(code, insn->bytes, insn->len) == 0;
}

const struct insn *code_at(struct code *c, uint64_t pc)
{
	size_t at = (pc ^ pc >> 14) % CACHE;
	struct insn *insn = &c->cache[at];
	uint8_t bytes[INSN_MAX_LEN];

	if (insn->addr == pc && is_current(c, insn))
		return insn;
	*insn = (struct insn){0};
	if (!insn_decode(c->drive->decoder, bytes, drive_code(c->drive, c->side, pc, bytes), pc, insn))
		return NULL;
	c->facts[at] = (uint8_t)(c->kernel ? kernel_code_facts(c->kernel, pc) : 0);
	return insn;
}

unsigned code_facts(const struct code *c, const struct insn *insn)
{
	return c->facts[insn - c->cache];
}

bool code_is_sysret(const struct insn *insn)
{
	static const uint8_t sysretq[] = {0x48, 0x0f, 0x07};

	return insn->len == sizeof(sysretq) && memcmp(insn->bytes, sysretq, sizeof(sysretq)) == 0;
}

bool code_is_iret(const struct insn *insn)
{
	static const uint8_t iretq[] = {0x48, 0xcf};

	return insn->len == sizeof(iretq) && memcmp(insn->bytes, iretq, sizeof(iretq)) == 0;
}

/* ---- strides ---- */

bool code_accesses(const struct insn *insn)
{
	const unsigned own = INSN_NO_ACCESS | INSN_STACK | INSN_GS | INSN_FS | INSN_PORT_IO | INSN_INDIRECT;

	return insn->nmem && !(insn->flags & own);
}

/*
 * Returns whether the instruction must be single-stepped for one of two reasons:
 *  - It may fault, and the kernel then goes on at a fixup, so that the CPU never comes to the end of a stride: RDMSR, WRMSR,
 *    XRSTOR and the like.
 *  - It switches to the user's GS or page tables: SWAPGS and MOV to CR3 (SDM vol. 2).
 */
static bool is_special(const struct insn *insn)
{
	const uint8_t *b = insn->bytes;

	if (insn->flags & INSN_INDIRECT)
		return true;
	return b[0] == 0x0f &&
	       (b[1] == 0x30 || b[1] == 0x32 || (b[1] == 0x01 && b[2] == 0xf8) || (b[1] == 0x22 && (b[2] >> 3 & 7) == 3));
}

bool code_accesses_user(const struct insn *insn, const struct x86_regs *regs)
{
	struct mem_access access[INSN_MAX_MEM];
	unsigned n = code_accesses(insn) ? insn_accesses(insn, regs, access) : 0;

	for (unsigned i = 0; i < n; i++)
		if (!x86_kernel_address(access[i].gva))
			return true;
	return false;
}

/* Returns whether the recording has to look at the CPU before this instruction (stride_code.is_wanted). */
static bool is_stop(void *ctx, const struct insn *insn)
{
	const struct code *c = ctx;

	return code_accesses(insn) || is_special(insn) || insn->flags & INSN_REP || insn->addr == c->switch_to ||
	       insn->bytes[0] == HLT || code_facts(c, insn) & KERNEL_SERVICE;
}

static const struct insn *insn_at(void *ctx, uint64_t pc)
{
	return code_at(ctx, pc);
}

unsigned code_stride(struct code *c, const struct insn *insn, const struct x86_regs *regs, uint64_t *end)
{
	const struct stride_code code = {.insn = insn_at, .is_wanted = is_stop, .ctx = c};

	if (insn->flags & INSN_REP || insn->bytes[0] == HLT || is_special(insn) || code_accesses_user(insn, regs))
		return 0;
	return stride_find(&code, insn, regs, end);
}
