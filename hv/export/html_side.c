// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes one side of a race on the HTML page of a report. */
#include <inttypes.h>
#include <string.h>

#include "hv/export/html.h"
#include "hv/report/device.h"
#include "hv/report/lock_words.h"
#include "hv/report/words.h"

static void put_source(FILE *out, const struct source_line *line)
{
	if (!line->file[0])
		return;
	html_guest(out, line->file, sizeof(line->file));
	if (line->line)
		fprintf(out, ":%u", line->line);
}

static void put_call(FILE *out, const struct race *race, unsigned which, unsigned i)
{
	const struct guest_calls *calls = &race->first.sides[which].calls;
	const struct guest_frame *frame = &calls->frames[i];
	const struct guest_context part = {.known = true, .kind = frame->context};
	const char *word = i && calls->frames[i - 1].context == frame->context ? "" : context_word(&part);
	size_t n;
	const struct source_line *line = race_names_lines(race->names, which, i, &n);

	for (size_t k = 0; k + 1 < n; k++) {
		fprintf(out, "<tr class=\"inlined\"><td>%s</td><td>", k ? "" : word);
		html_guest(out, line[k].function, sizeof(line[k].function));
		fputs("</td><td>", out);
		put_source(out, &line[k]);
		fputs("</td></tr>\n", out);
	}
	fprintf(out, "<tr><td>%s</td><td>%s", n > 1 ? "" : word, frame->reliable ? "" : "? ");
	if (frame->symbol.name[0]) {
		html_guest(out, frame->symbol.name, sizeof(frame->symbol.name));
		fprintf(out, "+0x%" PRIx64, frame->pc - frame->symbol.addr);
	} else {
		fprintf(out, "0x%016" PRIx64, frame->pc);
	}
	if (frame->symbol.module[0]) {
		fputs(" [", out);
		html_guest(out, frame->symbol.module, sizeof(frame->symbol.module));
		fputs("]", out);
	}
	fputs("</td><td>", out);
	if (n)
		put_source(out, &line[n - 1]);
	fputs("</td></tr>\n", out);
}

static void put_registers(FILE *out, const struct race_side *side)
{
	const struct x86_regs *regs = &side->regs;

	fputs("<details><summary>Registers</summary><pre>", out);
	fprintf(out, "rip %016" PRIx64 "  rflags %08" PRIx64 "  cr3 %016" PRIx64 "  gs %016" PRIx64 "\n", regs->rip,
		regs->rflags, regs->cr3, regs->gs_base);
	for (int i = 0; i < X86_GPRS; i++)
		fprintf(out, "%-3s %016" PRIx64 "%s", gpr_names[i], regs->gpr[i], i % 4 == 3 ? "\n" : "  ");
	fputs("</pre></details>\n", out);
}

static void put_bytes(FILE *out, const struct race_side *side)
{
	fprintf(out, "<pre>%016" PRIx64 ":", side->code_gva);
	for (uint32_t i = 0; i < side->code_len; i++)
		fprintf(out, side->code_gva + i == site_address(side) ? " <mark>%02x</mark>" : " %02x", side->code[i]);
	fputs("</pre>", out);
}

/*
 * Write the instruction. Its source line goes above the first instruction of the line, as in objdump -S: a source line and an
 * instruction side by side would not fit.
 */
static void put_instruction(FILE *out, const struct listing_line *l)
{
	if (l->line && !l->same_line) {
		fputs("<tr class=\"source\"><td></td><td>", out);
		html_guest(out, l->file, SOURCE_FILE_MAX);
		fprintf(out, ":%u%s", l->line, l->source[0] ? "  " : "");
		html_text(out, l->source);
		fputs("</td></tr>\n", out);
	}
	fprintf(out, "<tr%s><td>%s</td><td>", l->access ? " class=\"access\"" : "", l->place);
	html_text(out, l->text);
	fputs("</td></tr>\n", out);
}

static void put_code(FILE *out, const struct export_run *run, const struct race *race, unsigned which)
{
	struct listing listing = {0};

	if (!race->first.sides[which].code_len)
		return;
	if (run->listing)
		listing_make(run->listing, race, which, &listing);
	fputs("<details><summary>Code</summary>", out);
	if (listing.count) {
		fputs("<div class=\"wide\"><table class=\"code\">\n", out);
		for (unsigned i = 0; i < listing.count; i++)
			put_instruction(out, &listing.lines[i]);
		fputs("</table></div>", out);
	} else {
		put_bytes(out, &race->first.sides[which]);
	}
	fputs("</details>\n", out);
}

static void put_context(FILE *out, const struct race_side *side)
{
	const struct guest_context *context = &side->context;
	char phrase[CONTEXT_PHRASE_MAX];

	fprintf(out, "<p class=\"faint\">CPU %u", side->cpu);
	if (context->pid >= 0) {
		fputs(", ", out);
		html_guest(out, context->comm, sizeof(context->comm));
		fprintf(out, " (pid %" PRId32 ")", context->pid);
	}
	if (context->known) {
		context_phrase(context, phrase);
		fprintf(out, ", %s", phrase);
	}
	fputs("</p>\n", out);
}

static void put_locks(FILE *out, const struct race_locks *locks)
{
	char text[SIDE_LOCKS_TEXT_MAX];

	side_locks_text(locks, text);
	if (!text[0])
		return;
	fputs("<p>holds ", out);
	html_guest(out, text, strlen(text));
	fputs("</p>\n", out);
}

static void put_datum(FILE *out, const struct race *race, unsigned which)
{
	const struct datum_name *d = race->names ? &race->names->datum[which] : NULL;

	if (!d || d->by == DATUM_UNNAMED)
		return;
	fprintf(out, "<p>of %s<code>", d->guess ? "(it seems) " : "");
	html_guest(out, d->path, sizeof(d->path));
	fputs("</code>", out);
	if (d->type[0]) {
		fputs(", <code>", out);
		html_guest(out, d->type, sizeof(d->type));
		fputs("</code>", out);
	}
	if (d->member[0]) {
		fprintf(out, " at +%" PRIu64 " in <code>", d->offset);
		html_guest(out, d->owner, sizeof(d->owner));
		fputs("</code>", out);
	}
	fputs("</p>\n", out);
}

/* Write a side whose access no CPU was seen to make: a device's, or an unseen writer's. */
static void put_other_side(FILE *out, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	char text[DEVICE_TEXT_MAX];

	if (side->kind != RACE_SIDE_DEVICE) {
		fputs("changed the memory</h3>\n<p>A device, another mapping of the page, or user space: reading the memory "
		      "again showed it.</p></div>\n",
		      out);
		return;
	}
	device_kind(&side->device, text);
	fprintf(out, "%s by <code>", access_word(race->rw[which]));
	html_text(out, text);
	device_request(&side->device, text);
	fputs("</code></h3>\n<p><code>", out);
	html_text(out, text);
	fprintf(out, "</code></p>\n<p>%" PRIu32 " byte%s at GPA <code>0x%" PRIx64 "</code></p>\n<p class=\"faint\">by ",
		side->device.len, side->device.len == 1 ? "" : "s", side->device.gpa);
	device_thread(&side->device, text);
	html_text(out, text);
	fputs(" of outrider</p>\n</div>\n", out);
}

/*
 * Write the source line that stands for the access. If the access is in an inlined function, also write the innermost such
 * function with its line.
 */
static void put_place(FILE *out, const struct race *race, unsigned which, const struct source_line *place)
{
	size_t n;
	const struct source_line *inner = race_names_lines(race->names, which, 0, &n);

	fputs(", <code>", out);
	put_source(out, place);
	fputs("</code>", out);
	if (inner->inlined) {
		fputs(" in inlined <code>", out);
		html_guest(out, inner->function, sizeof(inner->function));
		fputs("</code>", out);
	}
	if (inner != place && inner->file[0]) {
		fputs(" at <code>", out);
		put_source(out, inner);
		fputs("</code>", out);
	}
}

void html_side(FILE *out, const struct export_run *run, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	const struct source_line *line = export_line(race, which);

	fprintf(out, "<div class=\"side\">\n<h3><span class=\"role\">%s</span> ", side_word(&race->first, which));
	if (side->kind != RACE_SIDE_CPU) {
		put_other_side(out, race, which);
		return;
	}
	fprintf(out, "%s%s in <code>", side->locked ? "locked " : "", access_word(race->rw[which]));
	html_text(out, race->site[which]);
	fprintf(out, "</code></h3>\n<p>%" PRIu32 " byte%s at <code>0x%016" PRIx64 "</code>", side->size,
		side->size == 1 ? "" : "s", side->gva);
	if (line)
		put_place(out, race, which, line);
	fputs("</p>\n", out);
	put_datum(out, race, which);
	put_context(out, side);
	put_locks(out, &side->locks);
	fputs("<div class=\"wide\"><table class=\"calls\">\n", out);
	for (unsigned i = 0; i < side->calls.count; i++)
		put_call(out, race, which, i);
	fputs("</table></div>\n", out);
	put_code(out, run, race, which);
	put_registers(out, side);
	fputs("</div>\n", out);
}
