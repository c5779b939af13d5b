// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a mail about one race to the kernel's maintainers, beginning with the Subject: line: plain text without tabs, in lines
 * of at most 72 columns, except for longer names (Documentation/process/email-clients.rst).
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "hv/export/internal.h"
#include "hv/report/device.h"
#include "hv/report/words.h"

#define COLUMNS 72	   /* the width that the kernel's lists expect */
#define PARAGRAPH_MAX 4096 /* bytes of one paragraph, including the NUL */
#define VALUE_SHOWN_MAX CLEAN_MAX(sizeof(((struct datum_name *)0)->before))
#define SOURCE_MAX (CLEAN_MAX(SOURCE_FILE_MAX) + 16)

/* Write one paragraph in lines of at most COLUMNS characters, each indented by `indent` blanks. */
__attribute__((format(printf, 3, 4))) static void put_paragraph(FILE *out, int indent, const char *fmt, ...)
{
	char text[PARAGRAPH_MAX];
	int column = 0;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
		int len = (int)strcspn(at, " ");

		if (column && column + 1 + len > COLUMNS) {
			fputc('\n', out);
			column = 0;
		}
		column += fprintf(out, "%*s%.*s", column ? 1 : indent, "", len, at);
		at += len;
	}
	fputc('\n', out);
}

/* Write "kernel/time/timekeeping.c:2255", or "" if the line is unknown. */
static void source_text(const struct source_line *line, char out[SOURCE_MAX])
{
	char file[CLEAN_MAX(SOURCE_FILE_MAX)];

	out[0] = '\0';
	if (!line || !line->file[0])
		return;
	clean_text(line->file, sizeof(line->file), file, sizeof(file));
	if (line->line)
		snprintf(out, SOURCE_MAX, "%s:%u", file, line->line);
	else
		snprintf(out, SOURCE_MAX, "%s", file);
}

/*
 * Describe one side: the function in whose source the access is, and, if that function was inlined, the function that it was
 * inlined into.
 */
static void side_text(const struct race *race, unsigned which, char out[2 * EXPORT_NAME_MAX])
{
	size_t n;
	const struct source_line *line = race_names_lines(race->names, which, 0, &n);
	const struct race_side *side = &race->first.sides[which];
	char function[EXPORT_NAME_MAX], inlined[EXPORT_NAME_MAX], module[EXPORT_NAME_MAX], in[EXPORT_NAME_MAX + 3] = "";

	export_function(side, function);
	export_text(side->symbol.module, sizeof(side->symbol.module), module);
	if (module[0])
		snprintf(in, sizeof(in), " [%s]", module);
	if (line && line->inlined) {
		export_text(line->function, sizeof(line->function), inlined);
		snprintf(out, 2 * EXPORT_NAME_MAX, "%.400s(),\n      inlined into %.400s()%.200s", inlined, function, in);
	} else {
		snprintf(out, 2 * EXPORT_NAME_MAX, "%.600s()%.200s", function, in);
	}
}

static void put_subject(FILE *out, const struct race *race)
{
	char name[2][EXPORT_NAME_MAX];

	export_function(&race->first.sides[0], name[0]);
	export_who(race, 1, name[1]);
	fprintf(out, "Subject: [BUG] data race: %s()", name[0]);
	if (race->first.sides[1].kind == RACE_SIDE_CPU)
		fprintf(out, " / %s()", name[1]);
	else if (race->first.sides[1].kind == RACE_SIDE_DEVICE)
		fprintf(out, " / %s", name[1]);
	fputs("\n\n", out);
}

/* Write the kernel's release, the third word of `banner` ("Linux version RELEASE ..."), such as "6.1.0-56-cloud-amd64". */
static void release_text(const char *banner, char out[EXPORT_NAME_MAX])
{
	static const char prefix[] = "Linux version ";

	out[0] = '\0';
	if (banner && strncmp(banner, prefix, strlen(prefix)) == 0)
		export_text(banner + strlen(prefix), strcspn(banner + strlen(prefix), " "), out);
}

static void put_access(FILE *out, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	char where[2 * EXPORT_NAME_MAX], source[SOURCE_MAX];

	if (side->kind == RACE_SIDE_DEVICE) {
		device_request(&side->device, where);
		fprintf(out, "  %s of %" PRIu32 " byte%s by a device\n", access_word(race->rw[which]), side->device.len,
			side->device.len == 1 ? "" : "s");
		put_paragraph(out, 6, "%s", where);
		return;
	}
	if (side->kind != RACE_SIDE_CPU) {
		fputs("  a write by an unseen writer\n", out);
		return;
	}
	side_text(race, which, where);
	source_text(export_line(race, which), source);
	fprintf(out, "  %s of %" PRIu32 " byte%s in %s\n", access_word(race->rw[which]), side->size, side->size == 1 ? "" : "s",
		where);
	if (source[0])
		fprintf(out, "      %s\n", source);
}

static void put_summary(FILE *out, const struct export_run *run, const struct race *race)
{
	const struct datum_name *d = race->names ? &race->names->datum[race->names->best] : NULL;
	char datum[DATUM_TEXT_MAX], release[EXPORT_NAME_MAX], type[EXPORT_NAME_MAX] = "";

	datum_path(race, datum);
	release_text(run->kernel, release);
	if (d && d->by != DATUM_UNNAMED)
		export_text(d->type, sizeof(d->type), type);
	put_paragraph(out, 0, "there is a data race%s%s%s%s%s in Linux%s%s:", datum[0] ? " on " : "", datum,
		      type[0] ? " (" : "", type, type[0] ? ")" : "", release[0] ? " " : "", release);
	fputc('\n', out);
	put_access(out, race, 0);
	put_access(out, race, 1);
}

/* ---- stacks ---- */

/*
 * Write one call of a stack: the function `name`, the remark `note` and the source line `source`. If one line of COLUMNS is too
 * short, the source line goes on a second line.
 */
static void put_call(FILE *out, const char *name, const char *note, const char *source)
{
	int used = fprintf(out, "  %s%s", name, note);

	if (source[0] && used + 2 + (int)strlen(source) <= COLUMNS)
		fprintf(out, "  %s", source);
	else if (source[0])
		fprintf(out, "\n      %s", source);
	fputc('\n', out);
}

static void put_frame(FILE *out, const struct race *race, unsigned which, unsigned i, const struct guest_symbol *symbol,
		      uint64_t pc, const char *note)
{
	char name[EXPORT_NAME_MAX], module[EXPORT_NAME_MAX], place[2 * EXPORT_NAME_MAX + 64], source[SOURCE_MAX] = "";
	size_t n;
	const struct source_line *line = race_names_lines(race->names, which, i, &n);

	for (; n > 1; n--, line++) {
		export_text(line->function, sizeof(line->function), name);
		source_text(line, source);
		put_call(out, name, " (inlined)", source);
	}
	source_text(n ? line : NULL, source);
	export_text(symbol->name, sizeof(symbol->name), name);
	export_text(symbol->module, sizeof(symbol->module), module);
	if (name[0])
		snprintf(place, sizeof(place), "%s+0x%" PRIx64 "/0x%" PRIx64 "%s%s%s", name, pc - symbol->addr, symbol->size,
			 module[0] ? " [" : "", module, module[0] ? "]" : "");
	else
		snprintf(place, sizeof(place), "0x%016" PRIx64, pc);
	put_call(out, place, note, source);
}

static void put_stack(FILE *out, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	const struct guest_calls *calls = &side->calls;
	char phrase[CONTEXT_PHRASE_MAX] = "an unknown context", comm[EXPORT_NAME_MAX];

	export_text(side->context.comm, sizeof(side->context.comm), comm);
	if (side->context.known)
		context_phrase(&side->context, phrase);
	fputc('\n', out);
	if (side->context.pid >= 0)
		put_paragraph(out, 0, "The %s, on CPU %u by %s (pid %" PRId32 "), %s:", access_word(race->rw[which]), side->cpu,
			      comm, side->context.pid, phrase);
	else
		put_paragraph(out, 0, "The %s, on CPU %u, %s:", access_word(race->rw[which]), side->cpu, phrase);
	fputc('\n', out);
	if (calls->count == 0)
		put_frame(out, race, which, 0, &side->symbol, site_address(side), "");
	for (unsigned i = 0; i < calls->count; i++) {
		const struct guest_frame *f = &calls->frames[i];
		bool entered = i && f->context != calls->frames[i - 1].context;

		if (entered)
			fputs("  (interrupted:)\n", out);
		put_frame(out, race, which, i, &f->symbol, f->pc, f->reliable ? "" : " (a guess)");
	}
}

/* ---- how the race was seen ---- */

static const char *how_phrase(const struct race *race)
{
	bool same_cpu = race->first.sides[1].kind == RACE_SIDE_CPU && race->first.sides[0].cpu == race->first.sides[1].cpu;

	switch (race->first.how) {
	case RACE_BY_POINT:
		return "Then another CPU was stopped before the other access; the addresses of both accesses are known";
	case RACE_BY_DEVICE:
		return "The memory belonged to a request that the device was serving at that moment, or began to serve";
	case RACE_BY_DEVICE_WINDOW:
		return "Then a watchpoint on that memory caught the other access on a CPU";
	case RACE_BY_REREAD:
		return "Then reading the memory again showed another value, and the writer was not seen";
	default:
		return same_cpu ? "Then this CPU took an interrupt, and a watchpoint on the memory caught the other access"
				: "Then a watchpoint on the memory caught the other access on another CPU";
	}
}

/* Returns a phrase that says why the datum had the same value before and after the conflict. */
static const char *unchanged_phrase(const struct observation *o)
{
	switch (o->how) {
	case RACE_BY_POINT:
		return "neither side had made its access yet";
	case RACE_BY_DEVICE:
		return o->sides[1].device.write ? "the device had not written yet, or wrote what was there already"
						: "the CPU had not made its access yet";
	default:
		return "what was written was there already";
	}
}

static void put_values(FILE *out, const struct race *race)
{
	const struct observation *o = &race->first;
	const struct datum_name *d = race->names ? &race->names->datum[race->names->best] : NULL;
	char before[VALUE_SHOWN_MAX], after[VALUE_SHOWN_MAX];

	if (!o->data_len)
		return;
	if (d && d->by != DATUM_UNNAMED && d->before[0] && d->after[0]) {
		clean_text(d->before, sizeof(d->before), before, sizeof(before));
		clean_text(d->after, sizeof(d->after), after, sizeof(after));
	} else {
		value_text(o->before, o->data_len, before);
		value_text(o->after, o->data_len, after);
	}
	fputc('\n', out);
	if (strcmp(before, after) == 0)
		put_paragraph(out, 0, "The value was %s before and after: %s.", before, unchanged_phrase(o));
	else
		put_paragraph(out, 0, "The value was %s when the %s was stopped, and %s when the other access was seen.",
			      before, o->how == RACE_BY_DEVICE_WINDOW ? "device" : "CPU", after);
}

static void put_how(FILE *out, const struct export_run *run, const struct race *race)
{
	const struct observation *o = &race->first;
	uint64_t sampled = 0, delay = 0;
	/* Name the version of Outrider that observed the race. Another version may write the mail. */
	const char *version = run->run_count && run->runs[0].tool_version ? run->runs[0].tool_version : run->tool_version;
	char longest[64] = "", version_shown[EXPORT_NAME_MAX];

	for (size_t i = 0; i < run->run_count; i++) {
		sampled += run->runs[i].sampled_ns;
		delay = run->runs[i].delay_ns > delay ? run->runs[i].delay_ns : delay;
	}
	if (delay)
		snprintf(longest, sizeof(longest), ", for up to %.1f ms of its own time", (double)delay / 1e6);
	export_text(version, strnlen(version, 64), version_shown);
	fputs("\nHow it was seen:\n\n", out);
	if (o->how == RACE_BY_DEVICE_WINDOW)
		put_paragraph(
			out, 0,
			"Outrider %s runs the kernel in a virtual machine, with nothing compiled into or loaded into it. Its "
			"device took the request above from its queue, and was held before it accessed the request's memory%s. "
			"%s, %.3f ms later. So nothing orders the two accesses.",
			version_shown, longest, how_phrase(race), (double)o->held_ns / 1e6);
	else
		put_paragraph(
			out, 0,
			"Outrider %s runs the kernel in a virtual machine, with nothing compiled into or loaded into it. It "
			"plants breakpoints on instructions that access memory. CPU %u came to the %s above, and was held "
			"before "
			"it%s. %s, %.3f ms later. So nothing orders the two accesses.",
			version_shown, o->sides[0].cpu, access_word(race->rw[0]), longest, how_phrase(race),
			(double)o->held_ns / 1e6);
	put_values(out, race);
	fputc('\n', out);
	if (sampled)
		put_paragraph(out, 0, "It was seen %" PRIu64 " time%s in %.0f s of sampling, in %zu run%s.", race->count,
			      race->count == 1 ? "" : "s", (double)sampled / 1e9, run->run_count,
			      run->run_count == 1 ? "" : "s");
	else
		put_paragraph(out, 0, "It was seen %" PRIu64 " time%s.", race->count, race->count == 1 ? "" : "s");
}

static void put_verdict(FILE *out, const struct export_race *r)
{
	char evidence[CLEAN_MAX(512)];

	if (!r->verdict)
		return;
	clean_text(r->evidence ? r->evidence : "", r->evidence ? strlen(r->evidence) : 0, evidence, sizeof(evidence));
	fputc('\n', out);
	put_paragraph(out, 0, "Outrider's verdict: %s, by the rule %s: %s.", r->verdict, r->rule ? r->rule->name : "\"none\"",
		      evidence);
}

static void put_kernel(FILE *out, const struct export_run *run, const struct race *race)
{
	char banner[CLEAN_MAX(512)];

	fputc('\n', out);
	if (run->kernel) {
		clean_text(run->kernel, strnlen(run->kernel, 512), banner, sizeof(banner));
		put_paragraph(out, 0, "Kernel: %s", banner);
	}
	fprintf(out, "Race: %s\n", race->id);
}

int export_upstream(FILE *out, const struct export_run *run, struct err *err)
{
	(void)err;
	for (size_t i = 0; i < run->count; i++) {
		const struct race *race = run->races[i].race;

		put_subject(out, race);
		fputs("Hello,\n\n", out);
		put_summary(out, run, race);
		fputc('\n', out);
		put_paragraph(out, 0, "%s", EXPORT_UPSTREAM_TO_FILL_IN);
		put_stack(out, race, 0);
		if (race->first.sides[1].kind == RACE_SIDE_CPU)
			put_stack(out, race, 1);
		put_how(out, run, race);
		put_verdict(out, &run->races[i]);
		put_kernel(out, run, race);
	}
	return 0;
}
