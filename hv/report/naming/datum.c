// SPDX-License-Identifier: GPL-2.0-or-later
/* Names the datum by the variable at its address, or by the pointer that an access went through. */
#include "hv/report/naming/datum.h"

#include <inttypes.h>
#include <string.h>

/* Returns the memory operand through which the side's instruction made the reported access. */
static const struct insn_mem *find_operand(const struct race_side *side, const struct insn *insn)
{
	const struct insn_mem *found = NULL;

	for (unsigned i = 0; i < insn->nmem; i++) {
		if (side->rw && !(insn->mem[i].rw & side->rw))
			continue;
		if (!found || insn->mem[i].rw == side->rw)
			found = &insn->mem[i];
	}
	return found;
}

static bool decode(const struct naming *n, const struct race_side *side, struct insn *insn)
{
	uint64_t at = side->pc - side->code_gva;

	return side->pc && at < side->code_len && insn_decode(n->decoder, side->code + at, side->code_len - at, side->pc, insn);
}

/*
 * Compute *disp, the distance in bytes from the address that the base register held to the access. `after`: the registers were
 * read after the instruction. If the instruction wrote the base register, its old value is lost; then *disp is the operand's
 * displacement plus its scaled index. Returns false if the instruction wrote the index register, too.
 */
static bool displacement(const struct race_side *side, const struct insn *insn, const struct insn_mem *mem, bool after,
			 int64_t *disp)
{
	uint16_t lost = after ? insn->regs_written : 0;

	*disp = mem->disp;
	if (!(lost >> mem->base & 1))
		*disp = (int64_t)(side->gva - side->regs.gpr[mem->base]);
	else if (mem->index >= 0 && lost >> mem->index & 1)
		return false;
	else if (mem->index >= 0)
		*disp = (int64_t)((uint64_t)mem->disp + side->regs.gpr[mem->index] * mem->scale);
	return true;
}

static void keep(struct datum_name *out, enum datum_by by, const struct debuginfo_datum *d)
{
	*out = (struct datum_name){.by = (uint8_t)by,
				   .guess = d->fit < DEBUGINFO_FIT_INSIDE,
				   .bit_offset = d->bit_offset,
				   .bit_size = d->bit_size,
				   .offset = d->offset};
	snprintf(out->path, sizeof(out->path), "%s", d->path);
	snprintf(out->variable, sizeof(out->variable), "%s", d->variable ? d->variable : "");
	snprintf(out->owner, sizeof(out->owner), "%s", d->owner);
	snprintf(out->member, sizeof(out->member), "%s", d->member);
	snprintf(out->type, sizeof(out->type), "%s", d->type);
}

/* Append the name of the object or function that a pointer points to, if there is one. */
static void name_pointer(const struct naming *n, const struct race *race, const uint8_t *bytes, char *text, size_t size)
{
	struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES];
	struct debug_image image;
	struct debuginfo_datum d;
	struct debuginfo *di;
	uint64_t value;
	size_t used = strlen(text);
	int count;

	memcpy(&value, bytes, sizeof(value));
	di = naming_image(n, race, value, &image) ? debug_images_of(n->images, &image) : NULL;
	if (!di)
		return;
	count = debuginfo_variable_at(di, value, 1, &d, NULL);
	if (count > 0) {
		snprintf(text + used, size - used, " (&%.48s)", d.path);
		return;
	}
	count = debuginfo_lines(di, value, frames, NULL);
	if (count > 0 && frames[count - 1].function)
		snprintf(text + used, size - used, " (%.48s)", frames[count - 1].function);
}

static void put_value(const struct naming *n, const struct race *race, struct debuginfo *di, const struct debuginfo_datum *d,
		      const uint8_t *bytes, size_t len, char *text, size_t size)
{
	char value[DEBUGINFO_VALUE_MAX];
	bool pointer = false;

	text[0] = '\0';
	if (debuginfo_value(di, d, bytes, len, value, &pointer, NULL) <= 0)
		return;
	snprintf(text, size, "%s", value);
	if (pointer && len == sizeof(uint64_t))
		name_pointer(n, race, bytes, text, size);
}

/*
 * Write the datum's values before and after the race to `out`, as text. The record has only the values of the memory that side
 * 0 accesses. If the access of `side` is not within that memory, write no values.
 */
static void put_values(const struct naming *n, const struct race *race, const struct race_side *side, struct debuginfo *di,
		       const struct debuginfo_datum *d, struct datum_name *out)
{
	const struct observation *o = &race->first;
	uint64_t from = side->gva - o->sides[0].gva;

	if (from >= o->data_len || side->size > o->data_len - from)
		return;
	put_value(n, race, di, d, o->before + from, side->size, out->before, sizeof(out->before));
	put_value(n, race, di, d, o->after + from, side->size, out->after, sizeof(out->after));
}

static bool by_variable(const struct naming *n, const struct race *race, const struct race_side *side, uint64_t addr,
			const struct debug_image *image, struct datum_name *out)
{
	struct debuginfo *di = debug_images_of(n->images, image);
	struct debuginfo_datum d;
	struct err err = {0};
	int found = di ? debuginfo_variable_at(di, addr, side->size, &d, &err) : 0;

	if (found < 0)
		debug_images_failed(n->images, image, &err);
	if (found <= 0)
		return false;
	keep(out, DATUM_BY_VARIABLE, &d);
	put_values(n, race, side, di, &d, out);
	return true;
}

struct register_access {
	const struct debug_image *image;
	const struct insn_mem *mem;
	/* Bytes from the object's start, where the register points, to the access. */
	int64_t disp;
};

static int ask(const struct naming *n, const struct race_side *side, const struct register_access *a,
	       struct debuginfo_datum *out)
{
	struct debuginfo *di = debug_images_of(n->images, a->image);
	struct err err = {0};
	int found = di ? debuginfo_datum(di, side->pc, (enum x86_gpr)a->mem->base, a->disp, side->size, out, 1, &err) : 0;

	if (found < 0)
		debug_images_failed(n->images, a->image, &err);
	return found;
}

static bool is_of_object(const char *owner, const struct guest_memory *m)
{
	static const char tag[] = "struct ";
	const char *type = datum_unqualified(owner);

	return strncmp(type, tag, strlen(tag)) == 0 && strcmp(type + strlen(tag), m->type) == 0;
}

/*
 * Name the datum of a string instruction. A string instruction advances its registers with each step. So debug files can tell
 * the type of the object in which the instruction began, but not how far the access is from there. If the guest's allocator
 * says that the access is in an object of this type, use the offset of the access in this object. Otherwise mark the name as a
 * guess.
 */
static int ask_string(const struct naming *n, const struct race *race, const struct race_side *side, struct register_access *a,
		      struct debuginfo_datum *out)
{
	const struct guest_memory *m = &race->first.memory;
	uint64_t offset = side->gva - m->object;
	int found;

	a->disp = a->mem->disp;
	found = ask(n, side, a, out);
	if (found <= 0)
		return found;
	if (m->object && offset < m->object_size && is_of_object(out->owner, m)) {
		/*
		 * The string instruction may have begun at a member inside the object: out->offset is that member's offset.
		 * Compute from this offset the distance from the register's address to the access, and look up again.
		 */
		a->disp = (int64_t)((uint64_t)a->disp + offset - out->offset);
		found = ask(n, side, a, out);
		/*
		 * The register may hold one of several pointers, and the second lookup may have chosen another one. Accept its
		 * result only if it has the type and the offset that were found from the allocator.
		 */
		if (found <= 0 || (is_of_object(out->owner, m) && out->offset == offset))
			return found;
	}
	out->fit = DEBUGINFO_FIT_LOOSE;
	return found;
}

static int ask_plain(const struct naming *n, const struct race_side *side, const struct insn *insn, bool after,
		     struct register_access *a, struct debuginfo_datum *out)
{
	bool sure = displacement(side, insn, a->mem, after, &a->disp);
	int found = ask(n, side, a, out);

	if (found > 0 && !sure)
		out->fit = DEBUGINFO_FIT_LOOSE;
	return found;
}

/*
 * Returns true if the allocator contradicts a guess: the pointee would extend outside of the object that contains the access.
 */
static bool is_refuted(const struct race_side *side, const struct guest_memory *m, const struct debuginfo_datum *d)
{
	uint64_t start = side->gva - d->offset, end = start + d->owner_size;

	return d->fit < DEBUGINFO_FIT_INSIDE && m->object && side->gva - m->object < m->object_size &&
	       (start < m->object || end > m->object + m->object_size);
}

static bool by_register(const struct naming *n, const struct race *race, unsigned which, const struct insn *insn,
			struct datum_name *out)
{
	const struct race_side *side = &race->first.sides[which];
	struct debug_image image;
	struct register_access a = {.image = &image, .mem = find_operand(side, insn)};
	struct debuginfo_datum d;
	int found;

	if (!a.mem || a.mem->base < 0 || a.mem->base == X86_RSP || a.mem->seg || !naming_image(n, race, side->pc, &image))
		return false;
	if (insn->flags & INSN_STRING)
		found = ask_string(n, race, side, &a, &d);
	else
		found = ask_plain(n, side, insn, which == 1, &a, &d);
	if (found <= 0 || (!(insn->flags & INSN_STRING) && is_refuted(side, &race->first.memory, &d)))
		return false;
	keep(out, DATUM_BY_REGISTER, &d);
	put_values(n, race, side, debug_images_of(n->images, &image), &d, out);
	return true;
}

/*
 * Name a per-CPU variable. GS points to the CPU's per-CPU area, and debug files identify the variable by its offset in that
 * area.
 */
static bool by_per_cpu(const struct naming *n, const struct race *race, const struct race_side *side, const struct insn *insn,
		       struct datum_name *out)
{
	const struct insn_mem *mem = find_operand(side, insn);
	struct debug_image image;

	return mem && mem->seg == INSN_GS && naming_image(n, race, side->pc, &image) &&
	       by_variable(n, race, side, side->gva - side->regs.gs_base, &image, out);
}

/*
 * Name a per-CPU variable that the access reached through a pointer of which the debug information says nothing. The guest's
 * tables say which variable it is, and of which CPU. The offset in the variable is computed from the GS base of a side that ran
 * on this CPU. If neither side's GS base gives an address in this variable, the datum stays unnamed.
 */
static void by_memory(const struct naming *n, const struct race *race, const struct race_side *side, struct datum_name *out)
{
	const struct guest_memory *m = &race->first.memory;
	const struct debug_image image = naming_kernel(n);

	if (m->kind != GUEST_MEMORY_PER_CPU || m->symbol.module[0] || !m->symbol.name[0])
		return;
	for (unsigned i = 0; i < 2; i++) {
		const struct race_side *there = &race->first.sides[i];
		struct datum_name name;

		if (there->kind != RACE_SIDE_CPU ||
		    !by_variable(n, race, side, side->gva - there->regs.gs_base, &image, &name) ||
		    strcmp(name.variable, m->symbol.name) != 0)
			continue;
		*out = name;
		return;
	}
}

static void name_side(const struct naming *n, const struct race *race, unsigned which, struct datum_name *out)
{
	const struct race_side *side = &race->first.sides[which];
	struct debug_image image;
	struct insn insn;

	if (side->kind != RACE_SIDE_CPU ||
	    (naming_image(n, race, side->gva, &image) && by_variable(n, race, side, side->gva, &image, out)))
		return;
	if (decode(n, side, &insn) && (by_per_cpu(n, race, side, &insn, out) || by_register(n, race, which, &insn, out)) &&
	    !out->guess)
		return;
	by_memory(n, race, side, out);
}

/*
 * Returns the rank of a name by how much it tells. A name such as "*addr" ranks lower: it comes from the parameter of an
 * inlined function, and does not tell the object.
 */
static int worth(const struct datum_name *d)
{
	if (d->by == DATUM_UNNAMED || d->guess)
		return d->by != DATUM_UNNAMED;
	return d->by == DATUM_BY_VARIABLE ? 4 : d->path[0] == '*' ? 2 : 3;
}

void naming_datum(const struct naming *n, const struct race *race, struct race_names *names)
{
	for (unsigned i = 0; i < 2; i++)
		name_side(n, race, i, &names->datum[i]);
	names->best = worth(&names->datum[1]) > worth(&names->datum[0]);
}
