// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds ORC tables and the rule for an instruction in the guest's memory (see orc.h). */
#include "symbols/unwind/orc.h"

#include <string.h>

#include "hv/base/x86.h"

#define MAX_ENTRIES (16u << 20) /* a stock kernel has 370,000 entries */

/*
 * orc_find_numbering() reads about this many entries of the table, and counts the two numbers that RSP may have. That is
 * enough: two thirds of all rules are based on RSP, so the number of RSP is the more frequent one.
 */
#define NUMBERING_SAMPLE 512u
#define NEW_BASE_SP 3u /* RSP, in the numbering of Linux 7.3 */

/* ---- layout ---- */

static bool fits_entry(const struct btf_member *m, uint32_t size)
{
	return m->size && m->size <= sizeof(uint32_t) && m->offset <= size && m->size <= size - m->offset;
}

/* Find a member of struct orc_entry, which has `size` bytes. A member that does not lie inside the struct counts as missing. */
static bool entry_member(const struct btf *btf, const char *name, uint32_t size, struct btf_member *out)
{
	if (btf_member(btf, "orc_entry", name, out) == 0 && fits_entry(out, size))
		return true;
	*out = (struct btf_member){0};
	return false;
}

int orc_find_format(const struct btf *btf, struct orc_format *out, struct err *err)
{
	uint32_t size = btf_sizeof(btf, "orc_entry");

	*out = (struct orc_format){.size = size};
	if (!size || size > ORC_ENTRY_MAX || !entry_member(btf, "sp_offset", size, &out->sp_offset) ||
	    !entry_member(btf, "bp_offset", size, &out->bp_offset) || !entry_member(btf, "sp_reg", size, &out->sp_reg) ||
	    !entry_member(btf, "bp_reg", size, &out->bp_reg) || !entry_member(btf, "type", size, &out->type))
		return err_set(err, EXIT_INPUT, "stacks: this kernel's type information has no usable struct orc_entry");
	entry_member(btf, "signal", size, &out->signal);
	entry_member(btf, "end", size, &out->end);
	return 0;
}

/* ---- tables ---- */

static int check_table(const struct orc_table *table, struct err *err)
{
	if (table->count && table->count <= MAX_ENTRIES && x86_kernel_address(table->ips) &&
	    x86_kernel_address(table->entries) && table->ips + table->count * sizeof(int32_t) > table->ips &&
	    table->entries + (uint64_t)table->count * ORC_ENTRY_MAX > table->entries)
		return 0;
	return err_set(err, EXIT_INPUT, "stacks: the guest's ORC table is invalid");
}

int orc_find_kernel(const struct symtab *kernel, const struct orc_format *format, struct orc_table *out, struct err *err)
{
	uint64_t ips = symtab_addr(kernel, "__start_orc_unwind_ip"), ips_end = symtab_addr(kernel, "__stop_orc_unwind_ip");
	uint64_t entries = symtab_addr(kernel, "__start_orc_unwind"), entries_end = symtab_addr(kernel, "__stop_orc_unwind");
	uint64_t count = (ips_end - ips) / sizeof(int32_t);

	*out = (struct orc_table){0};
	if (!ips || !entries)
		return err_set(err, EXIT_INPUT, "stacks: this kernel has no ORC tables");
	if (ips_end <= ips || entries_end <= entries || count > MAX_ENTRIES || (entries_end - entries) / format->size != count)
		return err_set(err, EXIT_INPUT, "stacks: the guest's ORC table is invalid");
	*out = (struct orc_table){.ips = ips, .entries = entries, .count = (uint32_t)count};
	return check_table(out, err);
}

static int module_word(const struct guest_reader *reader, const struct btf *btf, uint64_t module, const char *path,
		       uint64_t *out)
{
	struct btf_member m;

	*out = 0;
	if (btf_member(btf, "module", path, &m) || !m.size || m.size > sizeof(*out))
		return -1;
	return reader->read(reader->ctx, module + m.offset, out, m.size);
}

int orc_find_module(const struct guest_reader *reader, const struct btf *btf, uint64_t module, struct orc_table *out,
		    struct err *err)
{
	uint64_t count;

	*out = (struct orc_table){0};
	if (module_word(reader, btf, module, "arch.num_orcs", &count) ||
	    module_word(reader, btf, module, "arch.orc_unwind_ip", &out->ips) ||
	    module_word(reader, btf, module, "arch.orc_unwind", &out->entries)) {
		*out = (struct orc_table){0};
		return err_set(err, EXIT_INPUT, "stacks: a module has no ORC table that can be read");
	}
	out->count = count <= MAX_ENTRIES ? (uint32_t)count : 0;
	if (check_table(out, err) == 0)
		return 0;
	*out = (struct orc_table){0};
	return -1;
}

/* ---- lookup ---- */

/* Find the last entry whose address is at most `pc`: of several entries with the same address, the last applies. */
static int find_index(const struct guest_reader *reader, const struct orc_table *table, uint64_t pc, uint32_t *index)
{
	/* Invariant: entries below `low` begin at or before pc, entries from `high` on begin after pc. */
	uint32_t low = 0, high = table->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t at = table->ips + middle * sizeof(int32_t);
		int32_t distance;

		if (reader->read(reader->ctx, at, &distance, sizeof(distance)))
			return -1;
		if (at + (uint64_t)(int64_t)distance <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return -1;
	*index = low - 1;
	return 0;
}

static uint32_t entry_field(const uint8_t *entry, const struct btf_member *m)
{
	uint32_t v = 0;

	memcpy(&v, entry + m->offset, m->size);
	return m->bits && m->bits < 32 ? v >> m->shift & ((1u << m->bits) - 1) : v;
}

static int32_t signed_entry_field(const uint8_t *entry, const struct btf_member *m)
{
	unsigned unused = 32 - 8 * m->size;

	return (int32_t)(entry_field(entry, m) << unused) >> unused;
}

/*
 * Up to Linux 6.3 an entry has the member `end`, and types count from CALL = 0; an entry without a base for the stack pointer
 * is ORC_END if `end` is set, otherwise ORC_UNDEFINED. Since 6.4 these two are separate types, numbered before CALL.
 */
static enum orc_type rule_type(const struct orc_format *format, const uint8_t *entry)
{
	static const enum orc_type with_end[] = {ORC_CALL, ORC_REGS, ORC_REGS_PARTIAL};
	static const enum orc_type without[] = {ORC_UNDEFINED, ORC_END, ORC_CALL, ORC_REGS, ORC_REGS_PARTIAL};
	uint32_t type = entry_field(entry, &format->type);

	if (!format->end.size)
		return type < sizeof(without) / sizeof(*without) ? without[type] : ORC_UNDEFINED;
	if (entry_field(entry, &format->sp_reg) == ORC_BASE_NONE)
		return entry_field(entry, &format->end) ? ORC_END : ORC_UNDEFINED;
	return type < sizeof(with_end) / sizeof(*with_end) ? with_end[type] : ORC_UNDEFINED;
}

void orc_find_numbering(const struct guest_reader *reader, const struct orc_table *table, struct orc_format *format)
{
	uint32_t step = table->count / NUMBERING_SAMPLE + 1, old = 0, new = 0;

	for (uint32_t i = 0; i < table->count; i += step) {
		uint8_t entry[ORC_ENTRY_MAX];

		if (reader->read(reader->ctx, table->entries + (uint64_t)i * format->size, entry, format->size))
			continue;
		old += entry_field(entry, &format->sp_reg) == ORC_BASE_SP;
		new += entry_field(entry, &format->sp_reg) == NEW_BASE_SP;
	}
	format->renumbered = new > old;
}

/* Returns the base with this number in an entry. A base that is not supported becomes UINT8_MAX. */
static uint8_t base_of(const struct orc_format *format, uint32_t number)
{
	/* Linux 7.3, arch/x86/include/asm/orc_types.h. */
	static const uint8_t renumbered[] = {
		ORC_BASE_NONE, UINT8_MAX,    ORC_BASE_DX,      ORC_BASE_SP,	     ORC_BASE_BP,	  ORC_BASE_DI,
		ORC_BASE_R10,  ORC_BASE_R13, ORC_BASE_PREV_SP, ORC_BASE_SP_INDIRECT, ORC_BASE_BP_INDIRECT};

	if (!format->renumbered)
		return (uint8_t)number;
	return number < sizeof(renumbered) ? renumbered[number] : UINT8_MAX;
}

int orc_find_rule(const struct guest_reader *reader, const struct orc_format *format, const struct orc_table *table,
		  uint64_t pc, struct orc_rule *out)
{
	uint8_t entry[ORC_ENTRY_MAX];
	uint32_t index;

	if (find_index(reader, table, pc, &index) ||
	    reader->read(reader->ctx, table->entries + (uint64_t)index * format->size, entry, format->size))
		return -1;
	*out = (struct orc_rule){
		.type = rule_type(format, entry),
		.sp_base = base_of(format, entry_field(entry, &format->sp_reg)),
		.bp_base = base_of(format, entry_field(entry, &format->bp_reg)),
		.sp_offset = signed_entry_field(entry, &format->sp_offset),
		.bp_offset = signed_entry_field(entry, &format->bp_offset),
	};
	out->interrupted = format->signal.size ? entry_field(entry, &format->signal) : out->type != ORC_CALL;
	return 0;
}
