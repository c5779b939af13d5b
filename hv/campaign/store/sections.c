// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts the atomicity suspicions of a run's report to races. */
#include "hv/campaign/store/sections.h"

#include <stdlib.h>
#include <string.h>

#include "hv/race/race_key.h"
#include "hv/report/json/sections_json.h"
#include "hv/report/lock_words.h"

#define RANK_MAX 99 /* the highest rank of a verdict in the store */

/*
 * Returns the side of a race: the function that contains the access or, if `caller` is not 0, functions[caller - 1], without
 * suffixes of the compiler.
 */
static struct store_side side_of(const struct protection *p, uint32_t access, uint32_t caller, const char *kind,
				 struct store_text *text)
{
	const struct prot_access *a = &p->accesses[access];
	uint32_t function = caller ? caller - 1 : a->function;
	const char *name = function == PROTECTION_NONE ? race_key_nameless(a->site) : p->functions[function].name;
	const char *colon = strchr(name, ':');
	const char *base = colon ? colon + 1 : name;

	return (struct store_side){
		.function = text_printf(text, "%.*s", race_key_function_len(base), base),
		.module = text_printf(text, "%.*s", colon ? (int)(colon - name) : 0, name),
		.kind = kind,
		.file = "",
	};
}

static bool is_before(const struct store_side *a, const struct store_side *b)
{
	int order = strcmp(a->function, b->function);

	if (!order)
		order = strcmp(a->module, b->module);
	return order ? order < 0 : strcmp(a->kind, b->kind) < 0;
}

static struct store_key key_of(const struct protection *p, const struct suspicion *s, struct store_text *text)
{
	const struct store_side two = side_of(p, s->side[0], s->caller, STORE_SECTIONS, text);
	const struct store_side between = side_of(p, s->between, 0, STORE_SECTION, text);
	bool first = is_before(&two, &between);
	struct store_key key = {
		.sides = {first ? two : between, first ? between : two},
		.datum = "",
		.place = text_copy(text, p->accesses[s->side[1]].name),
	};

	store_key_seal(&key, text);
	return key;
}

static struct store_verdict verdict_of(const struct suspicion *s, struct store_text *text)
{
	return (struct store_verdict){
		.class = s->verdict == SECTION_VERDICT_CONFIRMED ? VERDICT_HARMFUL : VERDICT_UNCLEAR,
		.rank = s->rank < 0	     ? 0
			: s->rank > RANK_MAX ? RANK_MAX
					     : s->rank,
		.rule = atomicity_pattern_word(s->pattern),
		.evidence = text_copy(text, s->text),
		.suppressed = "",
	};
}

static int take_record(struct run_data_race *out, const struct protection *p, const struct suspicion *s, struct err *err)
{
	struct chart_suspicion named;

	chart_suspicion_name(p, s, &named);
	return run_data_keep(out, sections_json(&named), err);
}

static int take_suspicion(struct run_data *d, const struct protection *p, const struct suspicion *s, struct err *err)
{
	const struct prot_access *const accesses[] = {&p->accesses[s->side[0]], &p->accesses[s->side[1]],
						      &p->accesses[s->between]};
	struct run_data_race *out = &d->races[d->race_count++];

	*out = (struct run_data_race){
		.key = key_of(p, s, d->text),
		.report = text_copy(d->text, s->id),
		.site = {"", ""},
		.seen = (int64_t)s->held,
		.verdict = verdict_of(s, d->text),
	};
	/*
	 * accesses[0] and accesses[1] are in the two sections of one function, and accesses[2] is in the section that came in
	 * between. The report does not say when this was seen. It cannot have been before all three accesses were sampled for
	 * the first time, so take that time.
	 */
	for (size_t i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
		if ((int64_t)accesses[i]->first_ns > out->first_ns)
			out->first_ns = (int64_t)accesses[i]->first_ns;
		if ((int64_t)accesses[i]->last_ns > out->last_ns)
			out->last_ns = (int64_t)accesses[i]->last_ns;
	}
	return take_record(out, p, s, err);
}

int run_data_take_sections(struct run_data *d, const struct lock_record *locks, struct err *err)
{
	for (size_t i = 0; i < locks->suspicions.count; i++) {
		const struct suspicion *s = &locks->suspicions.list[i];

		if (s->kind == SUSPICION_ATOMICITY && take_suspicion(d, locks->protection, s, err) < 0)
			return -1;
	}
	return 0;
}
