// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts gdb's breakpoints and watchpoints to debug registers. */
#include "hv/replay/gdb/watches.h"

static bool is_breakpoint(const struct gdb_point *p)
{
	return p->kind == RSP_SOFTWARE || p->kind == RSP_HARDWARE;
}

/*
 * Returns the type of debug register for a point. A watchpoint for reads also traps on writes, because no debug register traps
 * on reads only. gdb expects this from other targets too.
 */
static enum x86_dr_type type_of(const struct gdb_point *p)
{
	if (is_breakpoint(p))
		return X86_DR_EXECUTE;
	return p->kind == RSP_WATCH_WRITE ? X86_DR_WRITE : X86_DR_READWRITE;
}

/*
 * Returns how many bytes from `gva` on one debug register can watch, but at most `left`. A debug register watches 1, 2, 4 or 8
 * bytes, and its address must be a multiple of this length.
 */
static unsigned length_at(uint64_t gva, unsigned left)
{
	unsigned len = 8;

	while (len > left || gva % len)
		len /= 2;
	return len;
}

static bool load_point(struct watches *w, const struct gdb_point *p, size_t index)
{
	uint64_t gva = p->gva;

	for (unsigned left = p->len, len; left; left -= len, gva += len) {
		if (w->used == COPY_WATCHES)
			return false;
		len = length_at(gva, left);
		w->registers.address[w->used] = gva;
		w->registers.dr7 |=
			x86_dr7_condition(w->used, type_of(p), len) | 2ull << (2 * w->used); /* enabled for all tasks */
		w->point[w->used++] = (uint8_t)index;
	}
	return true;
}

bool watches_load(struct watches *out, const struct gdb_point *points, size_t count, bool breakpoints)
{
	struct watches w = {0};

	for (size_t i = 0; i < count; i++)
		if ((breakpoints || !is_breakpoint(&points[i])) && !load_point(&w, &points[i], i))
			return false;
	*out = w;
	return true;
}

int watches_hit(const struct watches *w, unsigned bits)
{
	for (unsigned i = 0; i < w->used; i++)
		if (bits >> i & 1)
			return w->point[i];
	return -1;
}
