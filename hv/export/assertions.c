// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes assertions and the accesses that broke them, as a section of the output of `outrider locks`. */
#include "hv/export/assertions.h"

#include <inttypes.h>
#include <string.h>

#include "hv/export/html.h"
#include "hv/report/locks/chart.h"
#include "hv/report/words.h"

#define LINE_MAX_BYTES 512 /* bytes of one sentence, including the NUL */

static const char *context_name(const struct assertion_break *b)
{
	const struct guest_context context = {.known = true, .kind = (enum guest_context_kind)b->context};

	return context_word(&context);
}

/* Returns "held", "broken", "not-known" or "never-checked". */
static const char *state_word(const struct assertion *a)
{
	static const char *const words[] = {[ASSERTION_BROKEN] = "broken",
					    [ASSERTION_NEVER_CHECKED] = "never-checked",
					    [ASSERTION_NOT_KNOWN] = "not-known",
					    [ASSERTION_HELD] = "held"};

	return words[assertion_state(a)];
}

/*
 * Returns the end of outcome()'s sentence about an assertion that was never checked. For an optional assertion, which need not
 * be checked, the end says that it is optional. Otherwise it is "".
 */
static const char *excuse(const struct assertion *a)
{
	return a->optional ? "; it is optional" : "";
}

/* Write the result of checking an assertion, as a sentence without a full stop. */
static void outcome(const struct assertion *a, char out[LINE_MAX_BYTES])
{
	char unknown[64] = "";

	if (a->unknown)
		snprintf(unknown, sizeof(unknown), "; for %" PRIu64 " the locks are unknown", a->unknown);
	if (a->broken)
		snprintf(out, LINE_MAX_BYTES, "broken by %" PRIu64 " of %" PRIu64 " accesses%s", a->broken, a->checked,
			 unknown);
	else if (assertion_state(a) == ASSERTION_NOT_KNOWN)
		snprintf(out, LINE_MAX_BYTES, "never checked: the locks are unknown at all %" PRIu64 " accesses%s", a->checked,
			 excuse(a));
	else if (a->checked)
		snprintf(out, LINE_MAX_BYTES, "kept by %" PRIu64 " of %" PRIu64 " accesses%s", a->checked - a->unknown,
			 a->checked, unknown);
	else if (assertion_state(a) == ASSERTION_HELD)
		snprintf(out, LINE_MAX_BYTES, "kept: none of %" PRIu64 " accesses is of the kind that the assertion is about",
			 a->seen);
	else
		snprintf(out, LINE_MAX_BYTES,
			 "never checked: no such access was sampled after a second task had accessed the datum%s", excuse(a));
}

/* Write how an assertion was broken and by which function, as a sentence without a full stop. */
static void who(const struct assertion_break *b, char out[LINE_MAX_BYTES])
{
	char function[SITE_NAME_MAX + 2] = "an unknown function", from[SITE_NAME_MAX + 32] = "";

	if (b->function[0])
		snprintf(function, sizeof(function), "%s()", chart_function(b->function));
	if (b->operation[0] && strcmp(b->operation, b->function) != 0)
		snprintf(from, sizeof(from), " (reached from %s())", chart_function(b->operation));
	snprintf(out, LINE_MAX_BYTES, "%s under %s, by %s%s, in %s context", access_word(b->rw),
		 b->held[0] ? b->held : "no lock", function, from, context_name(b));
}

static void text_one(FILE *out, const struct assertion *a)
{
	char line[LINE_MAX_BYTES];

	outcome(a, line);
	fprintf(out, "  %s:%u  %s\n      %s\n", a->file, a->line, a->text, line);
	for (size_t i = 0; i < a->break_count; i++) {
		who(&a->breaks[i], line);
		fprintf(out, "      %8" PRIu64 "  %s: %s\n", a->breaks[i].count, a->breaks[i].site, line);
	}
}

void assertions_text(FILE *out, const struct assertions *a)
{
	if (!a)
		return;
	fprintf(out, "ASSERTIONS  %zu, %zu broken, %zu never checked\n", a->count, assertions_broken(a),
		assertions_unchecked(a));
	for (int state = ASSERTION_BROKEN; state <= ASSERTION_HELD; state++) {
		for (size_t i = 0; i < a->count; i++) {
			if (assertion_state(&a->list[i]) == (enum assertion_state)state)
				text_one(out, &a->list[i]);
		}
	}
	fputc('\n', out);
}

static const char *html_class(const struct assertion *a)
{
	if (assertion_state(a) == ASSERTION_HELD)
		return "benign";
	return a->optional && assertion_state(a) != ASSERTION_BROKEN ? "faint" : "unsure";
}

static void html_one(FILE *out, const struct assertion *a)
{
	char line[LINE_MAX_BYTES];

	outcome(a, line);
	fputs("<tr><td class=\"mono\" data-label=\"Where\">", out);
	html_foreign(out, a->file);
	fprintf(out, ":%u</td><td class=\"mono\" data-label=\"Assertion\">", a->line);
	html_name(out, a->text);
	fprintf(out, "</td><td class=\"%s\" data-label=\"Result\">", html_class(a));
	html_foreign(out, line);
	/* A cell without content is not shown on a narrow screen. */
	fprintf(out, "</td><td data-label=\"Broken by\">%s", a->break_count ? "<div>" : "");
	for (size_t i = 0; i < a->break_count; i++) {
		who(&a->breaks[i], line);
		fprintf(out, "%s%" PRIu64 " ", i ? "<br>" : "", a->breaks[i].count);
		html_name(out, line);
	}
	fprintf(out, "%s</td></tr>\n", a->break_count ? "</div>" : "");
}

void assertions_html(FILE *out, const struct assertions *a)
{
	if (!a)
		return;
	fputs("<h2>Assertions</h2>\n<div class=\"wide\"><table class=\"races\"><thead><tr><th>Where</th><th>Assertion</th>"
	      "<th>Result</th><th>Broken by</th></tr></thead><tbody>\n",
	      out);
	for (int state = ASSERTION_BROKEN; state <= ASSERTION_HELD; state++) {
		for (size_t i = 0; i < a->count; i++) {
			if (assertion_state(&a->list[i]) == (enum assertion_state)state)
				html_one(out, &a->list[i]);
		}
	}
	fputs("</tbody></table></div>\n", out);
}

static json_t *break_json(struct json_builder *b, const struct assertion_break *one)
{
	json_t *o = json_object();

	json_put(b, o, "site", json_string(one->site));
	json_put(b, o, "function", json_clean(one->function, sizeof(one->function)));
	json_put(b, o, "operation", json_clean(one->operation, sizeof(one->operation)));
	json_put(b, o, "kind", json_string(access_word(one->rw)));
	json_put(b, o, "context", json_string(context_name(one)));
	json_put(b, o, "held", json_clean(one->held, sizeof(one->held)));
	json_put(b, o, "count", json_whole(one->count));
	return o;
}

json_t *assertions_json(struct json_builder *b, const struct assertions *a)
{
	json_t *list = a ? json_array() : json_null();

	for (size_t i = 0; a && i < a->count; i++) {
		const struct assertion *one = &a->list[i];
		json_t *o = json_object(), *breaks = json_array();

		json_put(b, o, "file", json_clean(one->file, strlen(one->file)));
		json_put(b, o, "line", json_whole(one->line));
		json_put(b, o, "text", json_string(one->text));
		json_put(b, o, "state", json_string(state_word(one)));
		json_put(b, o, "optional", json_boolean(one->optional));
		json_put(b, o, "checked", json_whole(one->checked));
		json_put(b, o, "broken", json_whole(one->broken));
		json_put(b, o, "unknown", json_whole(one->unknown));
		for (size_t k = 0; k < one->break_count; k++)
			json_append(b, breaks, break_json(b, &one->breaks[k]));
		json_put(b, o, "breaks", breaks);
		json_append(b, list, o);
	}
	return list;
}
