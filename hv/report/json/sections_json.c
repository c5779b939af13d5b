// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts one atomicity suspicion to a JSON object and back, for the store of campaigns. */
#include "hv/report/json/sections_json.h"

#include <stdio.h>
#include <string.h>

#include "hv/report/json/read.h"
#include "hv/report/json/write.h"
#include "hv/report/lock_words.h"

#define RANK_MAX 99 /* the highest rank of a verdict in the store */

/* The words for the sections in the order in which they are executed, as the array `sections` has them. */
static const char *const when[ATOMICITY_STEPS] = {"first", "between", "second"};

static json_t *step_json(struct json_builder *b, const struct chart_suspicion *c, unsigned step)
{
	const char *site = chart_step_site(c, step);
	json_t *o = json_object();

	json_put(b, o, "when", json_string(when[step]));
	json_put(b, o, "site", json_clean(site, strlen(site)));
	json_put(b, o, "does", json_string(atomicity_step_words(c->suspicion.pattern, step)));
	return o;
}

json_t *sections_json(const struct chart_suspicion *c)
{
	const struct suspicion *s = &c->suspicion;
	json_t *o = json_object(), *steps = json_array();
	struct json_builder b = {0};

	for (unsigned i = 0; i < ATOMICITY_STEPS; i++)
		json_append(&b, steps, step_json(&b, c, i));
	json_put(&b, o, "id", json_string(s->id));
	json_put(&b, o, "kind", json_string(suspicion_kind_word(s->kind)));
	json_put(&b, o, "pattern", json_string(atomicity_pattern_word(s->pattern)));
	json_put(&b, o, "datum", json_clean(c->datum, sizeof(c->datum)));
	json_put(&b, o, "lock", json_clean(c->lock, sizeof(c->lock)));
	json_put(&b, o, "second_lock", json_clean(c->second_lock, sizeof(c->second_lock)));
	json_put(&b, o, "caller", json_clean(c->caller, sizeof(c->caller)));
	json_put(&b, o, "sections", steps);
	json_put(&b, o, "held", json_whole(s->held));
	json_put(&b, o, "total", json_whole(s->total));
	json_put(&b, o, "by_hold", json_whole(s->by_hold));
	json_put(&b, o, "replay", json_string(section_verdict_word(s->verdict)));
	json_put(&b, o, "rank", json_integer(s->rank < 0 ? 0 : s->rank > RANK_MAX ? RANK_MAX : s->rank));
	json_put(&b, o, "text", json_clean(s->text, sizeof(s->text)));
	if (!b.failed)
		return o;
	json_decref(o);
	return NULL;
}

static void read_steps(struct json_reader *r, const json_t *object, struct chart_suspicion *out)
{
	char *const sites[ATOMICITY_STEPS] = {out->site[0], out->between, out->site[1]};
	const json_t *steps = json_read_array(r, object, "sections", ATOMICITY_STEPS);

	if (r->failed)
		return;
	if (json_array_size(steps) != ATOMICITY_STEPS) {
		json_read_wrong(r, "sections", "three sections");
		return;
	}
	for (unsigned i = 0; i < ATOMICITY_STEPS; i++)
		json_read_text(r, json_array_get(steps, i), "site", sites[i], SITE_NAME_MAX);
}

/*
 * Read a member that is the word for an enum value. Returns the value that from_word() gives for the word, or 0 with r->failed
 * set if the word is unknown. `from_word` is one of the functions *_from_word().
 */
static unsigned read_word(struct json_reader *r, const json_t *object, const char *key, int (*from_word)(const char *word))
{
	int value = from_word(json_read_string(r, object, key));

	if (value >= 0)
		return (unsigned)value;
	json_read_wrong(r, key, "a word that this version knows");
	return 0;
}

int sections_read(const json_t *object, const char *what, struct chart_suspicion *out, struct err *err)
{
	struct json_reader r = {.what = what, .err = err};
	struct suspicion *s = &out->suspicion;

	*out = (struct chart_suspicion){0};
	s->kind = (enum suspicion_kind)read_word(&r, object, "kind", suspicion_kind_from_word);
	if (!r.failed && s->kind != SUSPICION_ATOMICITY)
		json_read_wrong(&r, "kind", "atomicity");
	s->pattern = (enum atomicity_pattern)read_word(&r, object, "pattern", atomicity_pattern_from_word);
	s->verdict = (enum section_verdict)read_word(&r, object, "replay", section_verdict_from_word);
	json_read_text(&r, object, "id", s->id, sizeof(s->id));
	json_read_text(&r, object, "datum", out->datum, sizeof(out->datum));
	json_read_text(&r, object, "lock", out->lock, sizeof(out->lock));
	json_read_text(&r, object, "second_lock", out->second_lock, sizeof(out->second_lock));
	json_read_text(&r, object, "caller", out->caller, sizeof(out->caller));
	json_read_text(&r, object, "text", s->text, sizeof(s->text));
	s->held = json_read_number(&r, object, "held", INT64_MAX);
	s->total = json_read_number(&r, object, "total", INT64_MAX);
	s->by_hold = json_read_number(&r, object, "by_hold", INT64_MAX);
	s->rank = (int)json_read_number(&r, object, "rank", RANK_MAX);
	read_steps(&r, object, out);
	return r.failed ? -1 : 0;
}
