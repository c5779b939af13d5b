// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts the results of running critical sections in copies to JSON and back. */
#include "hv/report/json/section_replay_json.h"

static const char *const byte_keys[SECTION_ORDERS] = {
	[SECTION_ORDER_BETWEEN] = "between",
	[SECTION_ORDER_A_FIRST] = "function_first",
	[SECTION_ORDER_B_FIRST] = "other_first",
};

/* ---- writing ---- */

static json_t *difference_json(struct json_builder *b, const struct section_difference *difference)
{
	const struct replay_difference *d = &difference->serial;
	json_t *o = json_object();

	json_put(b, o, "name", json_clean(d->name, sizeof(d->name)));
	json_put(b, o, "register_of", d->is_register ? json_integer(d->side) : json_null());
	json_put(b, o, "physical", d->is_register ? json_null() : json_hex(d->gpa));
	json_put(b, o, "address", d->gva ? json_hex(d->gva) : json_null());
	json_put(b, o, byte_keys[SECTION_ORDER_BETWEEN], json_bytes(difference->between, d->len));
	json_put(b, o, byte_keys[SECTION_ORDER_A_FIRST], json_bytes(d->bytes[0], d->len));
	json_put(b, o, byte_keys[SECTION_ORDER_B_FIRST], json_bytes(d->bytes[1], d->len));
	return o;
}

json_t *section_replay_json(struct json_builder *b, const struct section_replay *r)
{
	const struct section_replay_instance *telling = &r->telling;
	json_t *o = json_object(), *copies = json_object(), *differences = json_array();

	for (unsigned i = 0; i < SECTION_OUTCOMES; i++)
		json_put(b, copies, section_outcome_word((enum section_outcome)i), json_whole(r->count[i]));
	for (uint32_t i = 0; i < telling->kept; i++)
		json_append(b, differences, difference_json(b, &telling->differences[i]));
	json_put(b, o, "first", json_hex(r->first));
	json_put(b, o, "second", json_hex(r->second));
	json_put(b, o, "between", json_hex(r->between));
	json_put(b, o, "verdict", json_string(section_verdict_word(section_verdict(r))));
	json_put(b, o, "copies", copies);
	json_put(b, o, "why", json_clean(telling->why, sizeof(telling->why)));
	json_put(b, o, "trouble", json_clean(telling->trouble, sizeof(telling->trouble)));
	json_put(b, o, "difference_count", json_whole(telling->difference_count));
	json_put(b, o, "differences", differences);
	return o;
}

/* ---- reading ---- */

static void read_difference(struct json_reader *r, const json_t *o, struct section_difference *out)
{
	struct replay_difference *d = &out->serial;

	json_read_text(r, o, "name", d->name, sizeof(d->name));
	d->is_register = json_read_optional(o, "register_of") != NULL;
	if (d->is_register)
		d->side = (uint8_t)json_read_number(r, o, "register_of", 1);
	else
		d->gpa = json_read_hex(r, o, "physical");
	if (json_read_optional(o, "address"))
		d->gva = json_read_hex(r, o, "address");
	d->len = (uint8_t)json_read_bytes(r, o, byte_keys[SECTION_ORDER_BETWEEN], out->between, sizeof(out->between));
	if (json_read_bytes(r, o, byte_keys[SECTION_ORDER_A_FIRST], d->bytes[0], REPLAY_BYTES_MAX) != d->len ||
	    json_read_bytes(r, o, byte_keys[SECTION_ORDER_B_FIRST], d->bytes[1], REPLAY_BYTES_MAX) != d->len)
		json_read_wrong(r, byte_keys[SECTION_ORDER_BETWEEN], "as long as the bytes of the serial orders");
}

/*
 * Read the telling instance: the one instance that the record describes in full. Its outcome is the highest in the order of
 * enum section_outcome.
 */
static void read_telling(struct json_reader *r, const json_t *o, struct section_replay *out)
{
	const json_t *differences = json_read_array(r, o, "differences", SECTION_REPLAY_DIFFERENCES_MAX);
	struct section_replay_instance *telling = &out->telling;
	const char *wrong;

	for (unsigned i = 0; i < SECTION_OUTCOMES; i++) {
		if (out->count[i])
			telling->outcome = (enum section_outcome)i;
	}
	json_read_text(r, o, "why", telling->why, sizeof(telling->why));
	json_read_text(r, o, "trouble", telling->trouble, sizeof(telling->trouble));
	telling->difference_count = json_read_number(r, o, "difference_count", INT64_MAX);
	for (size_t i = 0; i < json_array_size(differences); i++)
		read_difference(r, json_array_get(differences, i), &telling->differences[telling->kept++]);
	wrong = r->failed ? NULL : section_replay_wrong(telling);
	if (wrong)
		json_read_wrong(r, "differences", "what fits the copies' outcomes");
}

void section_replay_read(struct json_reader *r, const json_t *object, struct section_replay *out)
{
	const json_t *copies = json_read_object(r, object, "copies");

	*out = (struct section_replay){.first = json_read_hex(r, object, "first"),
				       .second = json_read_hex(r, object, "second"),
				       .between = json_read_hex(r, object, "between")};
	for (unsigned i = 0; i < SECTION_OUTCOMES; i++)
		out->count[i] = json_read_number(r, copies, section_outcome_word((enum section_outcome)i), INT64_MAX);
	read_telling(r, object, out);
}
