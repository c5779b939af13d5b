// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <string.h>

#include "hv/export/internal.h"
#include "hv/report/words.h"

#define RULER "=================================================================="

/* "task 175", or the context that has no task of its own. */
static void put_who(FILE *out, const struct race_side *side)
{
	const struct guest_context *context = &side->context;

	if (context->known && context->kind != GUEST_TASK)
		fputs("interrupt", out);
	else if (context->pid >= 0)
		fprintf(out, "task %" PRId32, context->pid);
	else
		fputs("unknown task", out);
}

static void put_access(FILE *out, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];

	fprintf(out, "%s%s to 0x%016" PRIx64 " of %" PRIu32 " bytes by ", access_word(race->rw[which]),
		side->locked ? " (marked)" : "", side->gva, side->size);
	put_who(out, side);
	fprintf(out, " on cpu %u:\n", side->cpu);
}

static void put_call(FILE *out, const struct guest_symbol *symbol, uint64_t pc, bool reliable)
{
	char name[EXPORT_NAME_MAX], module[EXPORT_NAME_MAX];

	if (!symbol->name[0]) {
		fprintf(out, " %s0x%016" PRIx64 "\n", reliable ? "" : "? ", pc);
		return;
	}
	export_text(symbol->name, sizeof(symbol->name), name);
	export_text(symbol->module, sizeof(symbol->module), module);
	fprintf(out, " %s%s+0x%" PRIx64, reliable ? "" : "? ", name, pc - symbol->addr);
	if (symbol->size)
		fprintf(out, "/0x%" PRIx64, symbol->size);
	fprintf(out, "%s%s%s\n", module[0] ? " [" : "", module, module[0] ? "]" : "");
}

static void put_side(FILE *out, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];

	put_access(out, race, which);
	/* The stack was not unwound, so there is only the place of the access. */
	if (side->calls.count == 0)
		put_call(out, &side->symbol, site_address(side), true);
	for (unsigned i = 0; i < side->calls.count; i++)
		put_call(out, &side->calls.frames[i].symbol, side->calls.frames[i].pc, side->calls.frames[i].reliable);
	fputc('\n', out);
}

/* The functions are in alphabetical order, as in the kernel's own reports. The order does not say which side was held. */
static void put_title(FILE *out, const struct race *race)
{
	char name[2][EXPORT_NAME_MAX];
	bool swap;

	export_function(&race->first.sides[0], name[0]);
	fputs("BUG: KCSAN: data-race in ", out);
	if (!race->first.sides[1].known) {
		fprintf(out, "%s\n\n", name[0]);
		return;
	}
	export_function(&race->first.sides[1], name[1]);
	swap = strcmp(name[0], name[1]) > 0;
	fprintf(out, "%s / %s\n\n", name[swap], name[!swap]);
}

static void put_value(FILE *out, const struct observation *o)
{
	uint64_t before = 0, after = 0;

	if (!o->data_len || o->data_len > sizeof(before) || memcmp(o->before, o->after, o->data_len) == 0)
		return;
	memcpy(&before, o->before, o->data_len);
	memcpy(&after, o->after, o->data_len);
	fprintf(out, "value changed: 0x%0*" PRIx64 " -> 0x%0*" PRIx64 "\n\n", (int)o->data_len * 2, before,
		(int)o->data_len * 2, after);
}

/* Take the release, such as "6.1.0-9-amd64", out of a banner. */
static void put_release(FILE *out, const char *kernel)
{
	static const char prefix[] = "Linux version ";
	const char *release = kernel && strncmp(kernel, prefix, strlen(prefix)) == 0 ? kernel + strlen(prefix) : "";

	fprintf(out, " %.*s", (int)strcspn(release, " "), release);
}

static void put_race(FILE *out, const struct export_run *run, const struct export_race *r)
{
	const struct observation *o = &r->race->first;
	char comm[EXPORT_NAME_MAX];

	fputs(RULER "\n", out);
	put_title(out, r->race);
	/* The kernel shows the access that came in between first, since its watchpoint caught this access. */
	if (o->sides[1].known)
		put_side(out, r->race, 1);
	else
		fputs("race at unknown origin, with ", out);
	put_side(out, r->race, 0);
	put_value(out, o);
	export_text(o->sides[0].context.comm, sizeof(o->sides[0].context.comm), comm);
	fprintf(out, "Reported by Kernel Concurrency Sanitizer on:\nCPU: %u PID: %" PRId32 " Comm: %s Not tainted",
		o->sides[0].cpu, o->sides[0].context.pid, comm);
	put_release(out, run->kernel);
	fprintf(out, "\nHardware name: outrider %s, race %s\n" RULER "\n", run->tool_version, r->race->id);
}

int export_kcsan(FILE *out, const struct export_run *run, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < run->count; i++) {
		if (!run->races[i].suppression)
			put_race(out, run, &run->races[i]);
	}
	return 0;
}
