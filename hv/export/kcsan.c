// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the format of kernel/kcsan/report.c and of dump_stack_print_info() (lib/dump_stack.c), except that Outrider is the
 * reporter. Source lines stand where syzkaller's symbolizer (pkg/report/linux.go) puts them into a kernel's report: after the
 * size of the function and before the module. Each inlined function has a line of its own, marked by [inline].
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "hv/export/internal.h"
#include "hv/race/race_key.h"
#include "hv/report/device.h"
#include "hv/report/words.h"

#define RULER "=================================================================="

/* The letter of each taint flag, by bit number (taint_flags[] in kernel/panic.c). */
static const char taint_letters[] = "PFSRMBUDAWCIOELKXTNJ";
/* Number of taint flags that the kernel always prints, since 5.18. A later flag is printed only if it is set. */
#define TAINT_ALWAYS 19

/* Write the context of a side's access: "task 175" with the task's pid, or "interrupt" for a context that is not a task's. */
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

/* Write a source line as symbolizers do: " fs/inode.c:451". The compiler may have recorded "./fs/inode.c". */
static void put_source(FILE *out, const struct source_line *line)
{
	const char *file = line->file;

	if (!file[0] || !line->line)
		return;
	while (strncmp(file, "./", 2) == 0)
		file += 2;
	fprintf(out, " %s:%u", file, line->line);
}

static void put_module(FILE *out, const struct guest_symbol *symbol)
{
	if (symbol->module[0])
		fprintf(out, " [%s]", symbol->module);
}

/*
 * Write the address `pc` in the function `symbol` as printk() does: with `with_offset` as for %pS, "f+0x1c/0x40 [module]",
 * otherwise as for %ps, "f [module]". `line` is the source line, or NULL.
 */
static void put_place(FILE *out, const struct guest_symbol *symbol, uint64_t pc, bool with_offset,
		      const struct source_line *line)
{
	if (!symbol->name[0]) {
		fprintf(out, "0x%016" PRIx64, pc);
		return;
	}
	fputs(symbol->name, out);
	if (with_offset) {
		fprintf(out, "+0x%" PRIx64, pc - symbol->addr);
		if (symbol->size)
			fprintf(out, "/0x%" PRIx64, symbol->size);
	}
	if (line)
		put_source(out, line);
	put_module(out, symbol);
}

/*
 * A frame of a call stack with its `n` source lines. The last line is in the frame's function itself. The lines before it are
 * in functions that were inlined there, the innermost first.
 */
struct call {
	const struct guest_symbol *symbol;
	uint64_t pc;
	bool reliable;
	const struct source_line *lines;
	size_t n;
};

static void put_call(FILE *out, const struct call *c)
{
	const char *begin = c->reliable ? " " : " ? ";

	for (size_t i = 0; i + 1 < c->n; i++) {
		if (!c->lines[i].function[0])
			continue;
		fprintf(out, "%s%s", begin, c->lines[i].function);
		put_source(out, &c->lines[i]);
		fputs(" [inline]", out);
		put_module(out, c->symbol);
		fputc('\n', out);
	}
	fputs(begin, out);
	put_place(out, c->symbol, c->pc, true, c->n ? &c->lines[c->n - 1] : NULL);
	fputc('\n', out);
}

static void put_side(FILE *out, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	struct call call;

	put_access(out, race, which);
	/* Without a call stack, write only the place of the access. */
	if (side->calls.count == 0) {
		call = (struct call){.symbol = &side->symbol, .pc = site_address(side), .reliable = true};
		call.lines = race_names_lines(race->names, which, 0, &call.n);
		put_call(out, &call);
	}
	for (unsigned i = 0; i < side->calls.count; i++) {
		const struct guest_frame *frame = &side->calls.frames[i];

		call = (struct call){.symbol = &frame->symbol, .pc = frame->pc, .reliable = frame->reliable};
		call.lines = race_names_lines(race->names, which, i, &call.n);
		put_call(out, &call);
	}
	fputc('\n', out);
}

/*
 * Write the title. Two functions come in alphabetical order and without offsets, so that the title of a race is the same in
 * every run. The order does not tell which side was held.
 */
static void put_title(FILE *out, const struct race *race)
{
	const struct race_side *sides = race->first.sides;
	int order = strcmp(sides[0].symbol.name, sides[1].symbol.name);
	bool both = sides[1].kind == RACE_SIDE_CPU, swap;

	if (order == 0)
		order = strcmp(sides[0].symbol.module, sides[1].symbol.module);
	swap = both && order > 0;

	fputs("BUG: KCSAN: data-race in ", out);
	put_place(out, &sides[swap].symbol, site_address(&sides[swap]), !both, NULL);
	if (both) {
		fputs(" / ", out);
		put_place(out, &sides[!swap].symbol, site_address(&sides[!swap]), false, NULL);
	}
	fputs("\n\n", out);
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

static void put_taint(FILE *out, const struct guest_taint *taint)
{
	if (!taint->known) {
		fputs("Tainted: unknown", out);
		return;
	}
	if (!taint->flags) {
		fputs("Not tainted", out);
		return;
	}
	fputs("Tainted: ", out);
	for (unsigned bit = 0; taint_letters[bit]; bit++) {
		if (taint->flags >> bit & 1)
			fputc(taint_letters[bit], out);
		else if (bit < TAINT_ALWAYS)
			fputc(bit ? ' ' : 'G', out);
	}
}

/* Write the release and build number of a kernel's version line: "6.1.0-9-amd64 #1". */
static void put_release(FILE *out, const char *banner)
{
	static const char prefix[] = "Linux version ";
	const char *release = banner && strncmp(banner, prefix, strlen(prefix)) == 0 ? banner + strlen(prefix) : NULL;
	const char *build = release;

	if (!release || !*release) {
		fputs("unknown", out);
		return;
	}
	fprintf(out, "%.*s", (int)strcspn(release, " "), release);
	/*
	 * Take the last " #" that a digit follows as the build number: the compiler's name precedes it, and may contain " #"
	 * itself.
	 */
	for (const char *at = release; (at = strstr(at, " #")); at++) {
		if (isdigit((unsigned char)at[2]))
			build = at;
	}
	if (build != release)
		fprintf(out, " #%.*s", (int)strcspn(build + 2, " "), build + 2);
}

/* Write the device's access in an extra line, since KCSAN's format has only "race at unknown origin" for it. */
static void put_device(FILE *out, const struct race *race)
{
	const struct race_side *side = &race->first.sides[1];
	char request[DEVICE_TEXT_MAX], thread[DEVICE_TEXT_MAX];

	if (side->kind != RACE_SIDE_DEVICE)
		return;
	device_request(&side->device, request);
	device_thread(&side->device, thread);
	fprintf(out, "Outrider: %s of %" PRIu32 " bytes at GPA 0x%" PRIx64 " by %s, by %s\n", access_word(race->rw[1]),
		side->device.len, side->device.gpa, request, thread);
}

static void put_verdict(FILE *out, const struct export_race *r)
{
	struct race_key key;

	race_key(r->race, &key);
	fprintf(out, "race %s (%s in every build), seen %" PRIu64 " time%s", r->race->id, key.identity, r->race->count,
		r->race->count == 1 ? "" : "s");
	if (r->verdict)
		fprintf(out, ": %s (%s)", r->verdict, r->rule ? r->rule->name : "no rule");
	if (r->suppression)
		fprintf(out, ", suppressed: %s", r->suppression);
}

static void put_race(FILE *out, const struct export_run *run, const struct export_race *r)
{
	const struct observation *o = &r->race->first;

	fputs(RULER "\n", out);
	put_title(out, r->race);
	/* Begin with the access that the watchpoint caught, as KCSAN's reports do. The held access follows. */
	if (o->sides[1].kind == RACE_SIDE_CPU)
		put_side(out, r->race, 1);
	else
		fputs("race at unknown origin, with ", out);
	put_side(out, r->race, 0);
	put_value(out, o);
	fprintf(out, "Reported by Outrider %s on:\nCPU: %u PID: %" PRId32 " Comm: %s ", run->tool_version, o->sides[0].cpu,
		o->sides[0].context.pid, o->sides[0].context.comm);
	put_taint(out, &o->taint);
	fputc(' ', out);
	put_release(out, export_banner(run, r->race));
	fputc('\n', out);
	put_device(out, r->race);
	fputs("Outrider: ", out);
	put_verdict(out, r);
	fputs("\n" RULER "\n", out);
}

/* Write suspicions in extra lines: suspicions are no reports of races, and a parser must not take them for reports. */
static void put_suspicions(FILE *out, const struct lock_chart *locks)
{
	for (size_t i = 0; locks && i < locks->suspicion_count; i++)
		fprintf(out, "Outrider: suspicion %s: %s\n", locks->suspicions[i].suspicion.id,
			locks->suspicions[i].suspicion.text);
}

/*
 * Write first which runs are unfinished or have sampled nothing (enum run_doubt): if they found no race, the output would look
 * like that of a kernel without races.
 */
static void put_doubts(FILE *out, const struct export_run *run)
{
	char text[RUN_DOUBT_TEXT_MAX];

	for (size_t i = 0; i < run->run_count; i++) {
		if (run_doubt(&run->runs[i]) == RUN_SOUND)
			continue;
		run_doubt_text(&run->runs[i], text);
		fprintf(out, "Outrider: %s: run %zu of %zu: %s\n", run_doubt_word(run_doubt(&run->runs[i])), i + 1,
			run->run_count, text);
	}
}

/*
 * Write each complaint in an extra line, without the kernel's own words: a parser takes "BUG:" or "WARNING:" for the start of
 * another report.
 */
static void put_complaints(FILE *out, const struct run_facts *run)
{
	for (size_t i = 0; i < run->complaints.count; i++) {
		const struct complaint *c = &run->complaints.list[i];

		fprintf(out, "Outrider: the guest's kernel complained: %s%s%s\n", complaint_word(c->kind),
			c->where.text[0] ? " in " : "", c->where.text);
	}
}

int export_kcsan(FILE *out, const struct export_run *run, struct err *err)
{
	(void)err;
	put_doubts(out, run);
	for (size_t i = 0; i < run->run_count; i++)
		put_complaints(out, &run->runs[i]);
	for (size_t i = 0; i < run->count; i++) {
		if (!run->races[i].folded)
			put_race(out, run, &run->races[i]);
	}
	put_suspicions(out, run->locks);
	return 0;
}
