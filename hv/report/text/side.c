// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints all facts about one side of a race. */
#include "hv/report/text/side.h"

#include <inttypes.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/base/linux_image.h"
#include "hv/report/device.h"
#include "hv/report/lock_words.h"
#include "hv/report/text/calls.h"
#include "hv/report/text/place.h"
#include "hv/report/words.h"

#define STACK_WORDS_SHOWN 8
#define CODE_SHOWN 64 /* in bytes */
#define STACK_NAMES_SHOWN 12
/* Minimum width of an instruction's text, in characters, before the source line that follows in the same line. */
#define LISTING_COLUMN 52

static void put_context(FILE *out, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	const struct guest_context *context = &side->context;
	char comm[CLEAN_MAX(sizeof(context->comm))], phrase[CONTEXT_PHRASE_MAX];

	clean_text(context->comm, sizeof(context->comm), comm, sizeof(comm));
	fprintf(out, "             CPU %u, %s", side->cpu, side_word(&race->first, which));
	if (context->pid >= 0)
		fprintf(out, ": %s (pid %" PRId32 ")", comm, context->pid);
	if (context->known) {
		context_phrase(context, phrase);
		fprintf(out, ", %s", phrase);
	}
	fputc('\n', out);
}

static void put_locks(FILE *out, const struct race_locks *locks)
{
	char text[SIDE_LOCKS_TEXT_MAX];

	side_locks_text(locks, text);
	if (text[0])
		fprintf(out, "             holds %s\n", text);
}

static void put_registers(FILE *out, const struct x86_regs *regs)
{
	fprintf(out, "             rip %016" PRIx64 "  rflags %08" PRIx64 "  cr3 %016" PRIx64 "  gs %016" PRIx64 "\n",
		regs->rip, regs->rflags, regs->cr3, regs->gs_base);
	for (int i = 0; i < X86_GPRS; i++)
		fprintf(out, "%s%-3s %016" PRIx64 "%s", i % 4 ? "  " : "             ", gpr_names[i], regs->gpr[i],
			i % 4 == 3 ? "\n" : "");
}

/* Print the bytes of code near the access. As in a kernel oops, <> marks the first byte of the accessing instruction. */
static void put_code(FILE *out, const struct race_side *side)
{
	uint64_t at = site_address(side) - side->code_gva;

	uint64_t from = at > CODE_SHOWN / 2 ? at - CODE_SHOWN / 2 : 0;

	if (side->code_len == 0)
		return;
	fputs("             code", out);
	for (uint64_t i = from; i < side->code_len && i < from + CODE_SHOWN; i++)
		fprintf(out, i == at ? " <%02x>" : " %02x", side->code[i]);
	fputc('\n', out);
}

/* Print an instruction with its place, and its source line if that differs from the previous instruction's. */
static void put_instruction(FILE *out, const struct listing_line *l, const char *head, bool shown)
{
	char file[CLEAN_MAX(SOURCE_FILE_MAX)];

	fprintf(out, "             %-5s%s%-7s %s", head, l->access ? "> " : "  ", l->place, l->text);
	if (shown) {
		clean_text(l->file, SOURCE_FILE_MAX, file, sizeof(file));
		fprintf(out, "%*s %s:%u%s%s", (int)strlen(l->text) < LISTING_COLUMN ? LISTING_COLUMN - (int)strlen(l->text) : 0,
			"", file, l->line, l->source[0] ? "  " : "", l->source);
	}
	fputc('\n', out);
}

/* Print the disassembly near the access. Returns false, and prints nothing, if there is none. */
static bool put_listing(FILE *out, const struct race *race, unsigned which, const struct text_style *style)
{
	struct listing listing;

	if (!style->listing)
		return false;
	listing_make(style->listing, race, which, &listing);
	for (unsigned i = 0; i < listing.count; i++) {
		const struct listing_line *l = &listing.lines[i];

		if (l->access)
			fputs(text_colour(style, TEXT_STRONG), out);
		put_instruction(out, l, i ? "" : "code", l->line && !l->same_line);
		if (l->access) {
			fputs(text_colour(style, TEXT_PLAIN), out);
			fputs(text_colour(style, TEXT_FAINT), out);
		}
	}
	return listing.count != 0;
}

static uint64_t stack_word(const struct race_side *side, uint32_t index)
{
	uint64_t word;

	memcpy(&word, side->stack + index * sizeof(word), sizeof(word));
	return word;
}

static void put_stack_words(FILE *out, const struct race_side *side)
{
	uint32_t words = side->stack_len / sizeof(uint64_t);

	for (uint32_t i = 0; i < words && i < STACK_WORDS_SHOWN; i++) {
		if (i % 4 == 0)
			fprintf(out, "%s             stack+%02x", i ? "\n" : "", i * 8);
		fprintf(out, "  %016" PRIx64, stack_word(side, i));
	}
	if (words)
		fputc('\n', out);
}

/*
 * For a stack that could not be unwound, print the words that are addresses in kernel text. Some of these are stale return
 * addresses. Skip the address of a function's first byte: it is a function pointer, since no call returns there.
 */
static void put_stack_names(FILE *out, const struct race_side *side, const struct text_style *style)
{
	uint32_t words = side->stack_len / sizeof(uint64_t);
	char place[TEXT_SITE_MAX];
	unsigned shown = 0;

	if (!style->symbol_at)
		return;
	for (uint32_t i = 0; i < words && shown < STACK_NAMES_SHOWN; i++) {
		uint64_t word = stack_word(side, i);
		struct guest_symbol symbol;

		if (word < LINUX_IMAGE_START || style->symbol_at(style->ctx, word, &symbol) < 0 || word == symbol.addr)
			continue;
		text_place(&symbol, word, place);
		fprintf(out, "%s%s", shown ? "  " : "             on the stack:  ", place);
		shown++;
	}
	if (shown)
		fputc('\n', out);
}

/*
 * Print the source line that stands for the access. If the innermost line at the access belongs to an inlined function, print
 * this function, too. If the innermost line is another line, print it at the end.
 */
static void put_source(FILE *out, const struct race *race, unsigned which)
{
	const struct source_line *place = race_names_place(race->names, which), *inner;
	char source[TEXT_SOURCE_MAX], function[CLEAN_MAX(SOURCE_FUNCTION_MAX)];
	size_t n;

	if (!place)
		return;
	text_source(place, source);
	fprintf(out, "             at %s", source);
	inner = race_names_lines(race->names, which, 0, &n);
	if (inner->inlined) {
		clean_text(inner->function, sizeof(inner->function), function, sizeof(function));
		fprintf(out, " in inlined %s", function);
	}
	if (inner != place) {
		text_source(inner, source);
		fprintf(out, " at %s", source);
	}
	fputc('\n', out);
}

static void put_datum(FILE *out, const struct race *race, unsigned which)
{
	const struct datum_name *d = race->names ? &race->names->datum[which] : NULL;
	char path[CLEAN_MAX(sizeof(d->path))], owner[CLEAN_MAX(sizeof(d->owner))], type[CLEAN_MAX(sizeof(d->type))];

	if (!d || d->by == DATUM_UNNAMED)
		return;
	clean_text(d->path, sizeof(d->path), path, sizeof(path));
	clean_text(d->owner, sizeof(d->owner), owner, sizeof(owner));
	clean_text(d->type, sizeof(d->type), type, sizeof(type));
	fprintf(out, "             of %s%s%s%s", d->guess ? "(it seems) " : "", path, type[0] ? ", " : "", type);
	/* Print the type of the owner only if the path names a member of it. The type of a whole variable was printed above. */
	if (d->member[0])
		fprintf(out, " at +%" PRIu64 " in %s", d->offset, owner);
	fputc('\n', out);
}

void text_side(FILE *out, const struct race *race, unsigned which, const struct text_style *style)
{
	const struct race_side *side = &race->first.sides[which];
	char site[TEXT_SITE_MAX];

	text_site(side, site);
	fprintf(out, "  %-10s %s%s%s%s   %" PRIu32 " byte%s at 0x%016" PRIx64 "\n", access_word(race->rw[which]),
		text_colour(style, TEXT_STRONG), side->pc ? "" : "just before ", site, text_colour(style, TEXT_PLAIN),
		side->size, side->size == 1 ? "" : "s", side->gva);
	put_source(out, race, which);
	put_datum(out, race, which);
	put_context(out, race, which);
	put_locks(out, &side->locks);
	fputs(text_colour(style, TEXT_FAINT), out);
	put_registers(out, &side->regs);
	if (!put_listing(out, race, which, style))
		put_code(out, side);
	put_stack_words(out, side);
	fputs(text_colour(style, TEXT_PLAIN), out);
	text_calls(out, race, which);
	if (side->calls.count < 2 && side->calls.origin == GUEST_ORIGIN_UNKNOWN)
		put_stack_names(out, side, style);
}

void text_device_side(FILE *out, const struct race *race, unsigned which, const struct text_style *style)
{
	const struct device_access *access = &race->first.sides[which].device;
	char request[DEVICE_TEXT_MAX], thread[DEVICE_TEXT_MAX];

	device_request(access, request);
	device_thread(access, thread);
	fprintf(out, "  %-10s %s%s%s   %" PRIu32 " byte%s at GPA 0x%" PRIx64 "\n             by %s of outrider\n",
		access_word(race->rw[which]), text_colour(style, TEXT_STRONG), request, text_colour(style, TEXT_PLAIN),
		access->len, access->len == 1 ? "" : "s", access->gpa, thread);
}
