// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a report back from its JSON file. */
#include "hv/report/json/load.h"

#include <stdlib.h>
#include <string.h>

#include "hv/race/complaint_link.h"
#include "hv/report/json/locks_json.h"
#include "hv/report/json/read.h"
#include "hv/report/json/stream.h"
#include "hv/report/json/race_read.h"

/* A report being read. */
struct reading {
	struct report_load *l;
	struct json_stream *in;
	const char *path;
	size_t room; /* capacity of l->races and l->verdicts */
	/*
	 * The first error in an item. It is reported only after the schema was checked: an unknown schema is the better
	 * explanation.
	 */
	struct err wrong_item;
};

static int check_schema(const json_t *document, const char *path, struct err *err)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));

	if (!schema)
		return err_set(err, EXIT_INPUT, "%s: no \"schema\": it is no report of `outrider run --json`", path);
	if (strcmp(schema, DOCUMENT_SCHEMA) != 0)
		return err_set(err, EXIT_INPUT, "%s: schema \"%.40s\", but this version reads %s only", path, schema,
			       DOCUMENT_SCHEMA);
	return 0;
}

static int make_room(struct reading *r)
{
	size_t room = r->room ? 2 * r->room : 64;
	struct race **races;
	json_t **verdicts;

	if (r->l->count < r->room)
		return 0;
	races = realloc(r->l->races, room * sizeof(struct race *));
	if (races)
		r->l->races = races;
	verdicts = races ? realloc(r->l->verdicts, room * sizeof(json_t *)) : NULL;
	if (!verdicts)
		return err_set(&r->wrong_item, EXIT_INTERNAL, "%s: out of memory", r->path);
	r->l->verdicts = verdicts;
	r->room = room;
	return 0;
}

static void add_race(struct reading *r, const json_t *object)
{
	char what[256];
	struct race *race;

	if (r->wrong_item.code != EXIT_OK || make_room(r) < 0)
		return;
	snprintf(what, sizeof(what), "%.200s: race %zu", r->path, r->l->count + 1);
	race = race_read(object, what, &r->wrong_item);
	if (!race)
		return;
	r->l->verdicts[r->l->count] = json_incref(json_object_get(object, "verdict"));
	r->l->races[r->l->count++] = race;
}

static int pass_on(const struct err *wrong, struct err *err)
{
	return err_set(err, wrong->code, "%s", wrong->text);
}

static void add_module(struct reading *r, const json_t *object)
{
	struct err wrong = {0};

	if (r->wrong_item.code == EXIT_OK && report_modules_read(&r->l->modules, object, &wrong) < 0)
		err_set(&r->wrong_item, wrong.code, "%s: %s", r->path, wrong.text);
}

/* The lists that can be too large for a JSON tree in memory, with the handlers of their items. */
static const struct long_list {
	const char *key;
	void (*add)(struct reading *r, const json_t *item);
} long_lists[] = {{"races", add_race}, {"modules", add_module}};

static const struct long_list *long_list(const char *key)
{
	for (size_t i = 0; i < sizeof(long_lists) / sizeof(long_lists[0]); i++) {
		if (strcmp(key, long_lists[i].key) == 0)
			return &long_lists[i];
	}
	return NULL;
}

/* Read the rest of a list after its opening bracket. */
static int read_list(struct reading *r, const struct long_list *list, struct err *err)
{
	if (json_stream_take(r->in, ']'))
		return 0;
	do {
		json_t *item = json_stream_value(r->in, err);

		if (!item)
			return -1;
		list->add(r, item);
		json_decref(item);
		if (r->wrong_item.code != EXIT_OK && json_object_get(r->l->document, "schema"))
			return pass_on(&r->wrong_item, err);
	} while (json_stream_take(r->in, ','));
	return json_stream_take(r->in, ']') ? 0 : json_stream_wrong(r->in, "',' or ']' expected", err);
}

/*
 * Read the lock record, after its opening brace, into r->l->locks. Returns an empty object, which stands for the record in
 * r->l->document.
 */
static json_t *read_locks(struct reading *r, struct err *err)
{
	if (r->l->locks.protection) {
		json_stream_wrong(r->in, "a second record of locks", err);
		return NULL;
	}
	return locks_json_read(r->in, r->path, &r->l->locks, err) < 0 ? NULL : json_object();
}

/*
 * Read the value of `key`. A long list or the lock record is passed to its handler, any other value becomes a member of the
 * document.
 */
static int read_value(struct reading *r, const char *key, struct err *err)
{
	const struct long_list *list = long_list(key);
	json_t *document = r->l->document, *value;

	if (list && json_object_get(document, key))
		return json_stream_wrong(r->in, list == long_lists ? "a second list of races" : "a second list of modules",
					 err);
	if (list && json_stream_take(r->in, '[')) {
		if (read_list(r, list, err) < 0)
			return -1;
		value = json_array();
	} else if (strcmp(key, "locks") == 0 && json_stream_take(r->in, '{')) {
		value = read_locks(r, err);
	} else {
		value = json_stream_value(r->in, err);
	}
	if (json_object_set_new(document, key, value) < 0)
		return err_set(err, EXIT_INTERNAL, "%s: out of memory", r->path);
	/* Check the schema before any race is read: in files of Outrider, the member "schema" comes first. */
	return strcmp(key, "schema") == 0 ? check_schema(document, r->path, err) : 0;
}

static int read_member(struct reading *r, struct err *err)
{
	json_t *key = json_stream_value(r->in, err);
	int rc = -1;

	if (!key)
		return -1;
	if (!json_is_string(key) || !json_stream_take(r->in, ':'))
		json_stream_wrong(r->in, "a key and ':' expected", err);
	else
		rc = read_value(r, json_string_value(key), err);
	json_decref(key);
	return rc;
}

static int read_document(struct reading *r, struct err *err)
{
	if (!json_stream_take(r->in, '{'))
		return json_stream_wrong(r->in, "'{' expected", err);
	if (!json_stream_take(r->in, '}')) {
		do {
			if (read_member(r, err) < 0)
				return -1;
		} while (json_stream_take(r->in, ','));
		if (!json_stream_take(r->in, '}'))
			return json_stream_wrong(r->in, "',' or '}' expected", err);
	}
	return json_stream_at_end(r->in) ? 0 : json_stream_wrong(r->in, "end of file expected", err);
}

/* Check that there is a list of races and that all items were valid. */
static int check_races(const struct reading *r, struct err *err)
{
	struct json_reader reader = {.what = r->path, .err = err};

	if (!json_read_array(&reader, r->l->document, "races", 0))
		return -1;
	return r->wrong_item.code == EXIT_OK ? 0 : pass_on(&r->wrong_item, err);
}

int report_load(struct report_load *out, const char *path, struct err *err)
{
	struct reading r = {.l = out, .path = path};
	int rc = -1;

	*out = (struct report_load){.document = json_object()};
	if (!out->document)
		err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
	else
		r.in = json_stream_open(path, err);
	if (r.in && read_document(&r, err) == 0 && check_schema(out->document, path, err) == 0 &&
	    document_read(out->document, path, &out->run, err) == 0)
		rc = check_races(&r, err);
	json_stream_close(r.in);
	for (size_t i = 0; rc == 0 && i < out->count; i++)
		complaint_link_race(out->races[i], out->run.complaints.list, out->run.complaints.count);
	if (rc < 0)
		report_load_free(out);
	return rc;
}

int json_locks_load(struct lock_record *out, const char *path, struct err *err)
{
	struct report_load load;
	int rc = report_load(&load, path, err);

	*out = (struct lock_record){0};
	if (rc < 0)
		return rc;
	*out = load.locks;
	load.locks = (struct lock_record){0};
	report_load_free(&load);
	return out->protection
		       ? 0
		       : err_set(err, EXIT_INPUT,
				 "%s: it has no record of locks, because they were not followed: run with --locks", path);
}

void report_load_free(struct report_load *l)
{
	for (size_t i = 0; i < l->count; i++) {
		race_free(l->races[i]);
		json_decref(l->verdicts[i]);
	}
	free(l->races);
	free(l->verdicts);
	report_modules_free(&l->modules);
	run_facts_free(&l->run);
	lock_record_fini(&l->locks);
	json_decref(l->document);
	*l = (struct report_load){0};
}

void report_load_keep(struct report_load *l, bool (*wanted)(void *ctx, const struct race *race), void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		if (wanted(ctx, l->races[i])) {
			l->verdicts[kept] = l->verdicts[i];
			l->races[kept++] = l->races[i];
		} else {
			race_free(l->races[i]);
			json_decref(l->verdicts[i]);
		}
	}
	l->count = kept;
}

int report_load_into(struct report_load *l, struct race_store *store, struct err *err)
{
	race_store_begin_run(store);
	for (size_t i = 0; i < l->count; i++) {
		if (!race_store_put(store, l->races[i], err))
			return -1;
		l->races[i] = NULL;
	}
	return 0;
}
