// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the gdb commands that load the symbols of a scenario's kernel and modules. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hv/session/scene.h"

#define LINE_MAX_BYTES 512

struct search {
	struct scene *scene;
	void (*say)(void *ctx, const char *line);
	void *ctx;
};

static bool has_side(const struct search *q, const struct guest_module *m)
{
	for (unsigned side = 0; side < 2; side++) {
		uint64_t rip = q->scene->scenario.rendezvous.sides[side].regs.rip;

		if (rip >= m->base && rip - m->base < m->size)
			return true;
	}
	return false;
}

/*
 * Pass on the gdb command for a module. gdb places only the sections that the command names: name the four that have code and
 * variables.
 */
static void say_module(void *ctx, const struct guest_module *m)
{
	static const char *const names[] = {".text", ".data", ".bss", ".rodata"};
	const struct search *q = ctx;
	char line[LINE_MAX_BYTES];
	size_t at;

	if (!has_side(q, m) || !m->nsections)
		return;
	at = (size_t)snprintf(line, sizeof(line), "(gdb) add-symbol-file %s.ko", m->name);
	for (unsigned i = 0; i < m->nsections; i++)
		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]) && at < sizeof(line); n++)
			if (strcmp(m->sections[i].name, names[n]) == 0)
				at += (size_t)snprintf(line + at, sizeof(line) - at, " -s %s 0x%" PRIx64, names[n],
						       m->sections[i].addr);
	if (at < sizeof(line))
		q->say(q->ctx, line);
}

void scene_gdb_symbols(struct scene *s, void (*say)(void *ctx, const char *line), void *ctx)
{
	struct search q = {.scene = s, .say = say, .ctx = ctx};
	char line[LINE_MAX_BYTES];

	if (!s->known)
		return;
	snprintf(line, sizeof(line), "(gdb) symbol-file VMLINUX -o 0x%" PRIx64, guest_slide(s->guest));
	say(ctx, line);
	guest_each_module(s->guest, say_module, &q);
}
