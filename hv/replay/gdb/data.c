// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Handles the packets by which gdb accesses registers and memory, and sets break- and watchpoints. The packet `X`, which writes
 * memory in binary, is not supported: rsp_scan() would take some bytes in it for run-length encoding, because gdb does not
 * escape these bytes. gdb uses `M` instead.
 */
#include <string.h>

#include "hv/replay/gdb/server.h"

/* ---- registers ---- */

/* Read all registers of the CPU that gdb has selected. Returns false when the machine has failed. */
static bool get_cpu(struct server *s, struct replay_cpu *cpu)
{
	return s->machine->get(s->machine->ctx, s->cpu, cpu, &s->failure) == 0;
}

/* Returns whether the base of a segment is canonical: KVM refuses any other base, or fails the VM entry with it. */
static bool is_base(uint64_t gva, uint64_t cr4)
{
	unsigned unused = cr4 & X86_CR4_LA57 ? 64 - 57 : 64 - 48;

	return (uint64_t)((int64_t)(gva << unused) >> unused) == gva;
}

static void set_cpu(struct server *s, const struct replay_cpu *cpu)
{
	const struct x86_regs *r = &cpu->regs;

	if (!is_base(cpu->kernel_gs_base, r->cr4) || !is_base(r->fs_base, r->cr4) || !is_base(r->gs_base, r->cr4)) {
		refuse(s, REFUSED_VALUE);
		return;
	}
	if (s->machine->set(s->machine->ctx, s->cpu, cpu, &s->failure) == 0)
		reply_text(s, "OK");
}

void data_get_all(struct server *s, struct cursor c)
{
	struct replay_cpu cpu;
	uint8_t value[REGS_ONE_MAX];

	(void)c;
	if (!get_cpu(s, &cpu))
		return;
	for (unsigned i = 0; i < regs_count(); i++)
		reply_hex(s, value, regs_get(&cpu, i, value));
}

/* Read a register's value from the packet, and set it in *cpu. Returns 0, or -1 when the value is missing or cannot be set. */
static int take_value(struct cursor *c, struct replay_cpu *cpu, unsigned reg)
{
	uint8_t value[REGS_ONE_MAX];
	unsigned size = regs_size(reg);

	if ((size_t)(c->end - c->at) < 2u * size || rsp_from_hex(c->at, size, value) < 0)
		return -1;
	c->at += (size_t)2 * size;
	return regs_set(cpu, reg, value);
}

void data_set_all(struct server *s, struct cursor c)
{
	struct replay_cpu cpu;

	if (!get_cpu(s, &cpu))
		return;
	for (unsigned i = 0; i < regs_count(); i++)
		if (take_value(&c, &cpu, i) < 0)
			return refuse(s, REFUSED_VALUE);
	set_cpu(s, &cpu);
}

void data_get_one(struct server *s, struct cursor c)
{
	struct replay_cpu cpu;
	uint8_t value[REGS_ONE_MAX];
	uint64_t reg;

	if (!number(&c, &reg) || reg >= regs_count())
		return refuse(s, REFUSED_FORM);
	if (get_cpu(s, &cpu))
		reply_hex(s, value, regs_get(&cpu, (unsigned)reg, value));
}

void data_set_one(struct server *s, struct cursor c)
{
	struct replay_cpu cpu;
	uint64_t reg;

	if (!number(&c, &reg) || reg >= regs_count() || !skip(&c, "="))
		return refuse(s, REFUSED_FORM);
	if (!get_cpu(s, &cpu))
		return;
	if (take_value(&c, &cpu, (unsigned)reg) < 0 || c.at != c.end)
		return refuse(s, REFUSED_VALUE);
	set_cpu(s, &cpu);
}

/* ---- memory ---- */

static bool range(struct cursor *c, uint64_t *gva, uint64_t *len)
{
	return number(c, gva) && skip(c, ",") && number(c, len);
}

/*
 * Read the requested memory, but no more bytes than fit into a reply with two characters for each byte. Returns false after an
 * error reply.
 */
static bool read_memory(struct server *s, struct cursor *c, uint8_t bytes[LINK_REPLY_MAX / 2 - 1], size_t *got)
{
	uint64_t gva, len;

	if (!range(c, &gva, &len) || c->at != c->end) {
		refuse(s, REFUSED_FORM);
		return false;
	}
	if (len > LINK_REPLY_MAX / 2 - 1)
		len = LINK_REPLY_MAX / 2 - 1;
	*got = len ? s->machine->read(s->machine->ctx, s->cpu, gva, bytes, len) : 0;
	if (len && !*got)
		refuse(s, REFUSED_MEMORY);
	return !len || *got;
}

void data_read(struct server *s, struct cursor c)
{
	uint8_t bytes[LINK_REPLY_MAX / 2 - 1];
	size_t got;

	if (read_memory(s, &c, bytes, &got))
		reply_hex(s, bytes, got);
}

void data_read_binary(struct server *s, struct cursor c)
{
	uint8_t bytes[LINK_REPLY_MAX / 2 - 1];
	size_t got;

	if (!read_memory(s, &c, bytes, &got))
		return;
	reply_text(s, "b");
	reply_binary(s, bytes, got);
}

void data_write(struct server *s, struct cursor c)
{
	uint8_t bytes[RSP_PACKET_MAX / 2];
	uint64_t gva, len;

	if (!range(&c, &gva, &len) || !skip(&c, ":") || len > sizeof(bytes) || (uint64_t)(c.end - c.at) != 2 * len ||
	    rsp_from_hex(c.at, len, bytes) < 0)
		return refuse(s, REFUSED_FORM);
	if (len && s->machine->write(s->machine->ctx, s->cpu, gva, bytes, len) != len)
		return refuse(s, REFUSED_MEMORY);
	reply_text(s, "OK");
}

/* ---- break- and watchpoints ---- */

static bool parse_point(struct cursor *c, struct gdb_point *out)
{
	uint64_t kind, gva, len;

	if (!number(c, &kind) || kind > RSP_WATCH_ACCESS || !skip(c, ",") || !range(c, &gva, &len))
		return false;
	*out = (struct gdb_point){.kind = (enum rsp_point)kind, .gva = gva, .len = 1};
	if (kind == RSP_SOFTWARE || kind == RSP_HARDWARE)
		return true;
	out->len = (unsigned)len;
	return len && len <= UINT32_MAX && gva + (len - 1) >= gva;
}

static bool same_point(const struct gdb_point *a, const struct gdb_point *b)
{
	return a->kind == b->kind && a->gva == b->gva && a->len == b->len;
}

/* Returns the index of the point, or point_count if there is none. */
static size_t find_point(const struct server *s, const struct gdb_point *p)
{
	size_t i = 0;

	while (i < s->point_count && !same_point(&s->points[i], p))
		i++;
	return i;
}

static bool tell_points(struct server *s)
{
	return s->machine->points(s->machine->ctx, s->points, s->point_count);
}

/* Inserting an existing point is no error (GDB manual, E.2). */
void data_insert(struct server *s, struct cursor c)
{
	struct gdb_point p;

	if (!parse_point(&c, &p))
		return refuse(s, REFUSED_FORM);
	if (find_point(s, &p) < s->point_count)
		return reply_text(s, "OK");
	if (s->point_count == GDB_POINTS_MAX)
		return refuse(s, REFUSED_ROOM);
	s->points[s->point_count++] = p;
	if (tell_points(s))
		return reply_text(s, "OK");
	s->point_count--;
	tell_points(s);
	refuse(s, REFUSED_ROOM);
}

void data_remove(struct server *s, struct cursor c)
{
	struct gdb_point p;
	size_t i;

	if (!parse_point(&c, &p))
		return refuse(s, REFUSED_FORM);
	i = find_point(s, &p);
	if (i < s->point_count) {
		s->points[i] = s->points[--s->point_count];
		tell_points(s);
	}
	reply_text(s, "OK");
}
