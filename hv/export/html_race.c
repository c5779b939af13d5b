// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <string.h>

#include "hv/export/html.h"
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

	fputs("<details><summary>Registers and code</summary><pre>", out);
	fprintf(out, "rip %016" PRIx64 "  rflags %08" PRIx64 "  cr3 %016" PRIx64 "  gs %016" PRIx64 "\n", regs->rip,
		regs->rflags, regs->cr3, regs->gs_base);
	for (int i = 0; i < X86_GPRS; i++)
		fprintf(out, "%-3s %016" PRIx64 "%s", gpr_names[i], regs->gpr[i], i % 4 == 3 ? "\n" : "  ");
	fprintf(out, "code at %016" PRIx64 ":", side->code_gva);
	for (uint32_t i = 0; i < side->code_len; i++)
		fprintf(out, side->code_gva + i == site_address(side) ? " <mark>%02x</mark>" : " %02x", side->code[i]);
	fputs("</pre></details>\n", out);
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

static void put_side(FILE *out, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	const struct source_line *line = export_line(race, which);

	fputs("<div class=\"side\">\n<h3>", out);
	if (!side->known) {
		fputs("Changed by a writer nobody saw</h3>\n<p>A device, another mapping of the page, or user space: reading "
		      "the memory "
		      "again showed it.</p></div>\n",
		      out);
		return;
	}
	fprintf(out, "%s%s in <code>", side->locked ? "locked " : "", access_word(race->rw[which]));
	html_text(out, race->site[which]);
	fprintf(out, "</code></h3>\n<p>%" PRIu32 " byte%s at <code>0x%016" PRIx64 "</code>", side->size,
		side->size == 1 ? "" : "s", side->gva);
	if (line) {
		fputs(", <code>", out);
		put_source(out, line);
		fputs("</code>", out);
	}
	fputs("</p>\n", out);
	put_datum(out, race, which);
	put_context(out, side);
	fputs("<div class=\"wide\"><table class=\"calls\">\n", out);
	for (unsigned i = 0; i < side->calls.count; i++)
		put_call(out, race, which, i);
	fputs("</table></div>\n", out);
	put_registers(out, side);
	fputs("</div>\n", out);
}

/* Write the bits in groups of eight, the highest bit first. Bits that differ are marked. */
static void put_bits(FILE *out, const char *what, const uint8_t *bytes, const uint8_t *other, uint32_t len)
{
	fprintf(out, "<p class=\"bits\">%s ", what);
	for (uint32_t i = len; i-- > 0;) {
		for (int bit = 7; bit >= 0; bit--) {
			bool differs = (bytes[i] ^ other[i]) >> bit & 1;

			fprintf(out, differs ? "<mark>%d</mark>" : "%d", bytes[i] >> bit & 1);
		}
		fputs(i ? " " : "", out);
	}
	fputs("</p>\n", out);
}

static void put_value(FILE *out, const char *what, const char *decoded, const uint8_t *bytes, uint32_t len)
{
	char value[VALUE_TEXT_MAX];

	value_text(bytes, len, value);
	fprintf(out, "%s <code>", what);
	if (decoded && decoded[0]) {
		html_guest(out, decoded, 160);
		fputs("</code>", out);
		if (strcmp(decoded, value) != 0)
			fprintf(out, " <span class=\"faint\">(%s)</span>", value);
	} else {
		fprintf(out, "%s</code>", value);
	}
}

static void put_values(FILE *out, const struct race *race)
{
	const struct observation *o = &race->first;
	const struct datum_name *d = race->names ? &race->names->datum[race->names->best] : NULL;

	if (!o->data_len)
		return;
	fputs("<p>", out);
	put_value(out, "Value", d ? d->before : NULL, o->before, o->data_len);
	if (memcmp(o->before, o->after, o->data_len) == 0) {
		fputs(", unchanged when the conflict was seen</p>\n", out);
		return;
	}
	put_value(out, ", then", d ? d->after : NULL, o->after, o->data_len);
	fputs("</p>\n", out);
	if (o->data_len > sizeof(uint64_t))
		return;
	put_bits(out, "before", o->before, o->after, o->data_len);
	put_bits(out, "after&nbsp;", o->after, o->before, o->data_len);
}

void html_race(FILE *out, const struct export_race *r, const char *level, const char *verdict)
{
	const struct race *race = r->race;
	char title[EXPORT_TITLE_MAX], memory[DATUM_TEXT_MAX];

	export_title(race, title);
	fprintf(out, "<section class=\"race\" id=\"race-%s\">\n<h2>", race->id);
	html_text(out, title);
	fprintf(out, "</h2>\n<p><span class=\"%s\">", level);
	html_text(out, verdict);
	fputs("</span>", out);
	if (r->suppression || r->evidence) {
		fputs(": ", out);
		html_text(out, r->suppression ? r->suppression : r->evidence);
	}
	fprintf(out,
		"</p>\n<p class=\"faint\">race <span class=\"mono\">%s</span>, seen %" PRIu64
		" time%s, first %.3f s into the run by %s, %.3f ms into the window; physical 0x%" PRIx64 "</p>\n",
		race->id, race->count, race->count == 1 ? "" : "s", (double)race->first_ns / 1e9, how_word(race->first.how),
		(double)race->first.held_ns / 1e6, race->first.gpa);
	if (datum_memory(&race->first.memory, memory)) {
		fputs("<p>Memory: ", out);
		html_text(out, memory);
		fputs("</p>\n", out);
	}
	put_values(out, race);
	fputs("<div class=\"sides\">\n", out);
	put_side(out, race, 0);
	put_side(out, race, 1);
	fputs("</div>\n</section>\n", out);
}
