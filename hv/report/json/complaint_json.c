// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/json/complaint_json.h"

#include "hv/report/json/write.h"

static json_t *place_json(const struct complaint_place *p)
{
	if (!p->text[0])
		return json_null();
	return json_pack("{s:s, s:s, s:o, s:o}", "text", p->text, "function", p->function, "module", json_text(p->module),
			 "offset", json_hex(p->offset));
}

static json_t *frames_json(struct json_builder *b, const struct complaint *c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < c->frame_count; i++)
		json_append(b, list, place_json(&c->frames[i]));
	return list;
}

static json_t *complaint_json(struct json_builder *b, const struct complaint *c)
{
	json_t *o = json_object();

	json_put(b, o, "kind", json_string(complaint_word(c->kind)));
	json_put(b, o, "text", json_string(c->text));
	json_put(b, o, "fatal", json_boolean(c->fatal));
	json_put(b, o, "time_s", json_seconds(c->time_ns));
	json_put(b, o, "log_s", c->log_ns ? json_seconds(c->log_ns) : json_null());
	json_put(b, o, "cpu", c->cpu >= 0 ? json_integer(c->cpu) : json_null());
	json_put(b, o, "pid", c->pid >= 0 ? json_integer(c->pid) : json_null());
	json_put(b, o, "comm", json_text(c->comm));
	json_put(b, o, "where", place_json(&c->where));
	json_put(b, o, "address", c->address_known ? json_hex(c->address) : json_null());
	json_put(b, o, "frames", frames_json(b, c));
	json_put(b, o, "code", json_text(c->code));
	return o;
}

json_t *race_complaint_json(const struct race_complaint *c)
{
	return json_pack("{s:s, s:s, s:i, s:o, s:s, s:o}", "link", complaint_link_word(c->link), "kind",
			 complaint_word(c->kind), "side", (int)c->side, "after_s", json_seconds(c->after_ns), "text", c->text,
			 "where", json_text(c->where));
}

json_t *complaints_json(const struct run_complaints *complaints)
{
	struct json_builder b = {0};
	json_t *list;

	if (!complaints->read)
		return json_null();
	list = json_array();
	for (size_t i = 0; i < complaints->count; i++)
		json_append(&b, list, complaint_json(&b, &complaints->list[i]));
	if (!b.failed)
		return list;
	json_decref(list);
	return NULL;
}

/* ---- reading ---- */

static void read_place(struct json_reader *r, const json_t *place, struct complaint_place *out)
{
	json_read_text(r, place, "text", out->text, sizeof(out->text));
	json_read_text(r, place, "function", out->function, sizeof(out->function));
	json_read_text(r, place, "module", out->module, sizeof(out->module));
	out->offset = json_read_hex(r, place, "offset");
}

static void read_frames(struct json_reader *r, const json_t *object, struct complaint *c)
{
	const json_t *list = json_read_array(r, object, "frames", COMPLAINT_FRAMES_MAX);

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *frame = json_array_get(list, i);

		if (!json_is_object(frame)) {
			json_read_wrong(r, "frames", "a list of objects");
			return;
		}
		read_place(r, frame, &c->frames[c->frame_count++]);
	}
}

static int read_small(struct json_reader *r, const json_t *object, const char *key)
{
	return json_read_optional(object, key) ? (int)json_read_number(r, object, key, INT32_MAX) : -1;
}

static void read_complaint(struct json_reader *r, const json_t *object, struct complaint *c)
{
	*c = (struct complaint){.kind = complaint_kind_of(json_read_string(r, object, "kind"))};
	if (c->kind == COMPLAINT_NONE)
		json_read_wrong(r, "kind", "a kind of complaint, such as \"oops\"");
	json_read_text(r, object, "text", c->text, sizeof(c->text));
	c->fatal = json_read_bool(r, object, "fatal");
	c->time_ns = json_read_seconds(r, object, "time_s");
	c->log_ns = json_read_optional(object, "log_s") ? json_read_seconds(r, object, "log_s") : 0;
	c->cpu = read_small(r, object, "cpu");
	c->pid = read_small(r, object, "pid");
	json_read_text(r, object, "comm", c->comm, sizeof(c->comm));
	if (json_read_optional(object, "where"))
		read_place(r, json_read_object(r, object, "where"), &c->where);
	c->address_known = json_read_optional(object, "address") != NULL;
	c->address = c->address_known ? json_read_hex(r, object, "address") : 0;
	read_frames(r, object, c);
	json_read_text(r, object, "code", c->code, sizeof(c->code));
}

void complaints_read(struct json_reader *r, const json_t *document, struct run_complaints *out)
{
	const json_t *list;

	*out = (struct run_complaints){0};
	if (!json_read_optional(document, "complaints"))
		return;
	list = json_read_array(r, document, "complaints", RUN_COMPLAINTS_MAX);
	out->read = list != NULL;
	for (size_t i = 0; i < json_array_size(list) && !r->failed; i++) {
		const json_t *object = json_array_get(list, i);
		struct complaint c;

		if (!json_is_object(object)) {
			json_read_wrong(r, "complaints", "a list of objects");
			return;
		}
		read_complaint(r, object, &c);
		if (!r->failed && run_complaints_add(out, &c) < 0)
			json_read_wrong(r, "complaints", "small enough for the memory there is");
	}
}
