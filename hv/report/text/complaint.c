// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/text/text.h"

#include <inttypes.h>

static void put_place(FILE *out, const struct complaint *c)
{
	const char *comma = "";

	fputs("  where    ", out);
	if (c->where.text[0])
		fprintf(out, "%s", c->where.text), comma = ", ";
	if (c->cpu >= 0)
		fprintf(out, "%sCPU %d", comma, c->cpu), comma = ", ";
	if (c->comm[0])
		fprintf(out, "%stask %s", comma, c->comm), comma = ", ";
	if (c->pid >= 0)
		fprintf(out, "%spid %" PRId32, comma, c->pid), comma = ", ";
	fprintf(out, "%s%.3f s into the run\n", comma, (double)c->time_ns / 1e9);
}

void text_complaint(FILE *out, const struct complaint *c, const struct text_style *style)
{
	fprintf(out, "%sCOMPLAINT%s %s  %s%s%s\n", text_colour(style, TEXT_TITLE), text_colour(style, TEXT_PLAIN),
		complaint_word(c->kind), text_colour(style, TEXT_STRONG), c->text, text_colour(style, TEXT_PLAIN));
	put_place(out, c);
	if (c->address_known)
		fprintf(out, "  address  0x%016" PRIx64 "\n", c->address);
	for (unsigned i = 0; i < c->frame_count; i++)
		fprintf(out, "  %s%s\n", i ? "         " : "calls    ", c->frames[i].text);
	if (c->code[0])
		fprintf(out, "  code     %s\n", c->code);
	fputc('\n', out);
}

void text_complaints_sum(FILE *out, const struct run_complaints *complaints)
{
	unsigned of_kind[COMPLAINT_KINDS] = {0};
	const char *comma = "";

	for (size_t i = 0; i < complaints->count; i++)
		of_kind[complaints->list[i].kind]++;
	fputs("  guest's log   ", out);
	for (unsigned kind = COMPLAINT_NONE + 1; kind < COMPLAINT_KINDS; kind++) {
		if (!of_kind[kind])
			continue;
		fprintf(out, "%s%u %s", comma, of_kind[kind], complaint_word((enum complaint_kind)kind));
		comma = ", ";
	}
	fputs(complaints->count ? "\n" : complaints->read ? "no complaint of the kernel\n" : "not read\n", out);
}
