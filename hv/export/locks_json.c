// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "hv/export/assertions.h"
#include "hv/export/locks.h"
#include "hv/report/lock_words.h"
#include "hv/report/json/write.h"

static json_t *suspicion_json(struct json_builder *b, const struct chart_suspicion *c)
{
	const struct suspicion *s = &c->suspicion;
	json_t *o = json_object(), *sites = json_array(), *confirm = json_object(), *reached = json_array();

	json_put(b, o, "id", json_string(s->id));
	json_put(b, o, "kind", json_string(suspicion_kind_word(s->kind)));
	json_put(b, o, "rank", json_integer(s->rank));
	json_put(b, o, "text", json_string(s->text));
	for (unsigned i = 0; i < 2; i++) {
		json_append(b, sites, json_string(c->site[i]));
		json_append(b, reached, json_whole(s->reached[i]));
	}
	json_put(b, o, "sites", sites);
	if (s->kind == SUSPICION_ATOMICITY) {
		json_put(b, o, "between", json_string(c->between));
		json_put(b, o, "pattern", json_string(atomicity_pattern_word(s->pattern)));
		json_put(b, o, "by_hold", json_whole(s->by_hold));
		json_put(b, o, "replay", json_string(section_verdict_word(s->verdict)));
		if (c->caller[0])
			json_put(b, o, "caller", json_string(c->caller));
		if (c->second_lock[0])
			json_put(b, o, "second_lock", json_clean(c->second_lock, sizeof(c->second_lock)));
	}
	json_put(b, o, "lock", json_clean(c->lock, sizeof(c->lock)));
	json_put(b, o, "held", json_whole(s->held));
	json_put(b, o, "total", json_whole(s->total));
	json_put(b, o, "met", json_boolean(s->concurrent));
	json_put(b, confirm, "state", json_string(confirm_word(s->confirm)));
	json_put(b, confirm, "reached", reached);
	json_put(b, o, "proof", confirm);
	return o;
}

static json_t *datum_json(struct json_builder *b, const struct chart_datum *d)
{
	json_t *o = json_object(), *missing = json_array();

	json_put(b, o, "name", json_string(d->name));
	json_put(b, o, "owner", json_stringn(d->name, d->owner_len));
	json_put(b, o, "lock", json_clean(d->lock, sizeof(d->lock)));
	json_put(b, o, "held", json_whole(d->held));
	json_put(b, o, "total", json_whole(d->total));
	json_put(b, o, "writes", json_whole(d->writes));
	json_put(b, o, "rcu_reads", json_whole(d->rcu));
	json_put(b, o, "unshared", json_whole(d->unshared));
	for (size_t i = 0; i < d->missing_count; i++) {
		json_t *m = json_object();

		json_put(b, m, "function", json_string(d->missing[i].function));
		json_put(b, m, "count", json_whole(d->missing[i].count));
		json_append(b, missing, m);
	}
	json_put(b, o, "missing", missing);
	return o;
}

static json_t *left_out_json(struct json_builder *b, const struct lock_chart *chart)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < PROTECT_LEFT_OUT; i++)
		json_put(b, o, left_out_word(i), json_whole(chart->left_out[i]));
	return o;
}

static json_t *together_json(struct json_builder *b, const struct chart_together *t)
{
	json_t *o = json_object(), *data = json_array(), *functions = json_array(), *odd = json_array();

	for (unsigned i = 0; i < 2; i++)
		json_append(b, data, json_string(t->data[i]));
	for (size_t i = 0; i < t->function_count; i++)
		json_append(b, functions, json_string(t->functions[i].function));
	for (size_t i = 0; i < t->odd_count; i++) {
		json_t *one = json_object(), *changes = json_array();

		for (unsigned k = 0; k < 2; k++) {
			if (t->odd[i].changes[k])
				json_append(b, changes, json_string(t->data[k]));
		}
		json_put(b, one, "function", json_string(t->odd[i].function));
		json_put(b, one, "changes", changes);
		json_put(b, one, "count", json_whole(t->odd[i].count));
		json_append(b, odd, one);
	}
	json_put(b, o, "data", data);
	json_put(b, o, "lock", json_clean(t->lock, sizeof(t->lock)));
	json_put(b, o, "functions", functions);
	json_put(b, o, "not_in", odd);
	return o;
}

int export_locks_json(FILE *out, const struct export_locks *locks, struct err *err)
{
	const struct lock_chart *chart = locks->chart;
	struct json_builder b = {0};
	json_t *document = json_object(), *files = json_array(), *suspicions = json_array(), *data = json_array();
	json_t *together = json_array();

	json_put(&b, document, "schema", json_string("outrider-locks/1"));
	json_put(&b, document, "tool_version", json_string(locks->tool_version));
	for (size_t i = 0; i < locks->file_count; i++)
		json_append(&b, files, json_clean(locks->files[i], strlen(locks->files[i])));
	json_put(&b, document, "files", files);
	json_put(&b, document, "assertions", assertions_json(&b, locks->assertions));
	for (size_t i = 0; i < chart->suspicion_count; i++)
		json_append(&b, suspicions, suspicion_json(&b, &chart->suspicions[i]));
	json_put(&b, document, "suspicions", suspicions);
	for (size_t i = 0; i < chart->count; i++)
		json_append(&b, data, datum_json(&b, &chart->data[i]));
	json_put(&b, document, "data", data);
	for (size_t i = 0; i < chart->together.count; i++)
		json_append(&b, together, together_json(&b, &chart->together.list[i]));
	json_put(&b, document, "together", together);
	json_put(&b, document, "left_out", left_out_json(&b, chart));
	json_put(&b, document, "lost", json_whole(chart->lost));
	return json_document_write(out, &b, document, err);
}
