// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a report that was read from a JSON file, with additions to its races. */
#include "hv/report/json/load.h"

#include <string.h>

#include "hv/report/json/locks_json.h"
#include "hv/report/json/race_json.h"

/*
 * JSON_ENSURE_ASCII: escape all characters outside of ASCII. Members that this version does not know are written unchanged, and
 * may contain any character.
 */
#define FLAGS (JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY | JSON_ENSURE_ASCII)

struct writing {
	const struct report_load *l;
	FILE *out;
	int (*amend)(void *ctx, size_t index, json_t *race);
	void *ctx;
	struct err *err;
};

static int no_memory(struct err *err)
{
	return err_set(err, EXIT_INTERNAL, "out of memory while making the report");
}

/* Write `value` and release it. `value` is NULL if memory ran out. */
static int write_value(const struct writing *w, json_t *value)
{
	int rc = value ? json_dumpf(value, w->out, FLAGS) : no_memory(w->err);

	json_decref(value);
	return rc;
}

static int write_race(const struct writing *w, size_t index)
{
	json_t *race = race_json(w->l->races[index]);

	if (race && w->amend && w->amend(w->ctx, index, race) < 0) {
		json_decref(race);
		race = NULL;
	}
	return write_value(w, race);
}

static int write_module(const struct writing *w, size_t index)
{
	return write_value(w, report_module_json(&w->l->modules.list[index]));
}

static int write_list(const struct writing *w, size_t count, int (*write_item)(const struct writing *w, size_t index))
{
	if (putc('[', w->out) == EOF)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if ((i && fputs(", ", w->out) == EOF) || write_item(w, i) < 0)
			return -1;
	}
	return putc(']', w->out) == EOF ? -1 : 0;
}

static int write_member(const struct writing *w, const char *key, json_t *value)
{
	if (json_is_array(value) && strcmp(key, "races") == 0)
		return write_list(w, w->l->count, write_race);
	if (json_is_array(value) && strcmp(key, "modules") == 0)
		return write_list(w, w->l->modules.count, write_module);
	if (w->l->locks.protection && strcmp(key, "locks") == 0)
		return locks_json_write(w->out, w->l->locks.protection, &w->l->locks.suspicions, w->err);
	return write_value(w, json_incref(value));
}

static int write_members(const struct writing *w)
{
	json_t *document = w->l->document, *value;
	const char *key, *before = "{";

	json_object_foreach(document, key, value)
	{
		if (fputs(before, w->out) == EOF || write_value(w, json_string(key)) < 0 || fputs(": ", w->out) == EOF)
			return -1;
		if (write_member(w, key, value) < 0)
			return -1;
		before = ", ";
	}
	return fputs("}\n", w->out) == EOF ? -1 : 0;
}

static int update_kernel(struct report_load *l)
{
	json_t *kernel = json_object_get(l->document, "kernel");

	return json_is_object(kernel)
		       ? json_object_set_new(kernel, "names", json_string(document_names_word(l->run.kernel.debug_files)))
		       : 0;
}

int report_load_write(struct report_load *l, FILE *out, int (*amend)(void *ctx, size_t index, json_t *race), void *ctx,
		      struct err *err)
{
	const struct writing w = {l, out, amend, ctx, err};

	return update_kernel(l) < 0 ? no_memory(err) : write_members(&w);
}
