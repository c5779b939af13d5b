// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/json/side_locks_json.h"

#include "hv/report/lock_words.h"

json_t *side_locks_json(struct json_builder *b, const struct race_locks *locks)
{
	json_t *o = json_object(), *held = json_array();

	json_put(b, o, "complete", json_boolean(locks->complete));
	for (unsigned i = 0; i < locks->set.count; i++) {
		const struct held_lock *from = &locks->set.held[i];
		json_t *lock = json_object();

		json_put(b, lock, "name", json_clean(locks->name[i], sizeof(locks->name[i])));
		json_put(b, lock, "kind", json_string(lock_kind_word(from->kind)));
		json_put(b, lock, "address", json_hex(from->gva));
		json_put(b, lock, "shared", json_boolean(from->shared));
		json_put(b, lock, "maybe", json_boolean(from->maybe));
		json_append(b, held, lock);
	}
	json_put(b, o, "held", held);
	return o;
}

static void read_held(struct json_reader *r, const json_t *o, struct race_locks *out)
{
	unsigned i = out->set.count++;
	struct held_lock *held = &out->set.held[i];
	int kind = lock_kind_from_word(json_read_string(r, o, "kind"));

	if (kind < 0)
		json_read_wrong(r, "kind", "a kind of lock");
	json_read_text(r, o, "name", out->name[i], sizeof(out->name[i]));
	*held = (struct held_lock){.gva = json_read_hex(r, o, "address"),
				   .kind = (uint8_t)(kind < 0 ? 0 : kind),
				   .shared = json_read_bool(r, o, "shared"),
				   .maybe = json_read_bool(r, o, "maybe")};
}

void side_locks_read(struct json_reader *r, const json_t *side, struct race_locks *locks)
{
	const json_t *o, *held;

	*locks = (struct race_locks){0};
	if (!json_read_optional(side, "locks"))
		return;
	o = json_read_object(r, side, "locks");
	held = o ? json_read_array(r, o, "held", LOCKSET_MAX) : NULL;
	if (!held)
		return;
	locks->known = true;
	locks->complete = json_read_bool(r, o, "complete");
	for (size_t i = 0; i < json_array_size(held); i++)
		read_held(r, json_array_get(held, i), locks);
}
