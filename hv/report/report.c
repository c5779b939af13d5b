// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the report of one run: prints races and writes them to a JSON file as they are found, and prints a summary at the end.
 */
#include "hv/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/race/complaint_link.h"
#include "hv/report/json/document.h"
#include "hv/report/json/file.h"
#include "hv/report/json/locks_json.h"
#include "hv/report/loaded.h"
#include "hv/report/naming/locks.h"
#include "hv/report/naming/naming.h"
#include "hv/report/text/text.h"
#include "hv/report/json/race_json.h"

/*
 * Limits of a run's record. A hostile guest can produce far more races and modules than a real kernel. The document must stay
 * small enough to be rewritten at each new race, and to be read back.
 */
#define RACES_MAX 8192u
#define MODULES_BYTES_MAX (4u << 20) /* report_module_bytes() of all recorded modules */
/* CPU time limit for naming data and locks at the end of the run: 20 s. */
#define LOCK_NAMES_NS UINT64_C(20000000000)

struct report {
	const struct report_config *config;
	struct race_store *store;
	struct json_file *json; /* NULL: not requested */
	/* A copy of config->run. The report owns the strings of run.kernel. */
	struct run_facts run;
	/* All modules that a recorded race may be in. */
	struct report_modules modules;
	struct report_modules loaded; /* the modules that are loaded now */
	/* Decodes the races' code, to name their data. */
	struct insn_decoder *decoder;
	char *locks;	  /* from locks_json_text(); NULL: locks were not followed */
	char *suspicions; /* from text_suspicions() */
	/* The failure to write the file was reported. */
	bool json_failed;
	bool modules_full; /* the limit on modules was reported */
	bool races_full;   /* the limit on races was reported */
};

static int no_memory(struct err *err)
{
	return err_set(err, EXIT_INTERNAL, "out of memory while making the report");
}

static int create_json(struct report *r, struct err *err)
{
	char *head = document_head(&r->run), *tail = document_tail(&r->run, &r->modules, NULL, NULL, NULL);

	if (head && tail)
		r->json = json_file_create(r->config->json, head, tail, err);
	else
		no_memory(err);
	free(head);
	free(tail);
	return r->json ? 0 : -1;
}

struct report *report_new(const struct report_config *config, struct err *err)
{
	struct report *r = calloc(1, sizeof(*r));

	if (!r) {
		no_memory(err);
		return NULL;
	}
	r->config = config;
	r->run = config->run;
	r->store = race_store_new(err);
	r->decoder = insn_decoder_new();
	if (!r->decoder)
		no_memory(err);
	if (r->store)
		race_store_limit(r->store, RACES_MAX);
	if (!r->store || !r->decoder || (config->json && create_json(r, err) < 0)) {
		report_free(r);
		return NULL;
	}
	return r;
}

int report_set_kernel(struct report *r, const struct report_kernel *kernel, struct err *err)
{
	struct run_kernel *k = &r->run.kernel;

	run_kernel_free(k);
	*k = (struct run_kernel){.banner = clean_copy(kernel->banner, SIZE_MAX),
				 .symbols = clean_copy(kernel->symbols, SIZE_MAX),
				 .slide = kernel->slide};
	if (kernel->build_id_len && kernel->build_id_len <= sizeof(k->build_id)) {
		memcpy(k->build_id, kernel->build_id, kernel->build_id_len);
		k->build_id_len = kernel->build_id_len;
	}
	race_store_set_slide(r->store, kernel->slide);
	return k->banner && k->symbols ? 0 : no_memory(err);
}

int report_set_modules(struct report *r, const struct report_module *loaded, size_t n, struct err *err)
{
	report_modules_free(&r->loaded);
	for (size_t i = 0; i < n; i++) {
		if (report_modules_add(&r->loaded, &loaded[i], err) < 0)
			return -1;
	}
	return 0;
}

static void say(const struct report *r, const char *line)
{
	if (r->config->message)
		r->config->message(r->config->print_ctx, line);
}

static void say_names(struct report *r)
{
	unsigned found = 0, asked;

	if (r->config->images)
		debug_images_used(r->config->images, &found, &asked);
	r->run.kernel.debug_files = found != 0;
}

static struct naming naming_of(const struct report *r, const struct report_modules *modules)
{
	const struct run_kernel *k = &r->run.kernel;

	return (struct naming){.images = r->config->images,
			       .decoder = r->decoder,
			       .modules = modules,
			       .slide = k->slide,
			       .build_id = k->build_id,
			       .build_id_len = k->build_id_len,
			       .sources = r->config->sources};
}

/* Add modules and names to a new race. */
static int complete_race(struct report *r, struct race *race, struct err *err)
{
	const struct naming naming = naming_of(r, &r->modules);
	bool full = false;

	if (loaded_keep(&r->loaded, race, &r->modules, MODULES_BYTES_MAX, &full, err) < 0)
		return -1;
	if (full && !r->modules_full)
		say(r, "the limit on recorded modules is reached: races in further modules are reported, but debug files "
		       "cannot name them");
	r->modules_full |= full;
	if (naming.images && naming_race(&naming, race, err) < 0)
		return -1;
	say_names(r);
	return 0;
}

static char *race_text(void *ctx, size_t index)
{
	const struct report *r = ctx;
	const struct report_judge *judge = r->config->judge;
	json_t *race = race_json(race_store_get(r->store, index));
	char *text = NULL;

	if (race && (!r->run.judged || (json_object_set_new(race, "verdict", judge->verdict(judge->ctx, index)) == 0 &&
					json_object_set_new(race, "group", json_string(judge->group(judge->ctx, index))) == 0)))
		text = json_dumps(race, JSON_REAL_PRECISION(12));
	json_decref(race);
	return text;
}

static struct json_items all_races(struct report *r)
{
	return (struct json_items){race_store_count(r->store), race_text, r};
}

static int update_json(struct report *r, struct err *err)
{
	const struct json_items all = all_races(r);
	char *tail;
	int rc;

	if (!r->json)
		return 0;
	tail = document_tail(&r->run, &r->modules, NULL, NULL, NULL);
	/* Return an error only for the first failed write: on a full disk, the write of every further race would fail too. */
	rc = tail ? json_file_update(r->json, tail, &all, r->json_failed ? NULL : err) : no_memory(err);
	free(tail);
	if (rc == 0 || r->json_failed)
		return 0;
	r->json_failed = true;
	return -1;
}

static void link_complaints(struct report *r)
{
	for (size_t i = 0; i < race_store_count(r->store); i++)
		complaint_link_race(race_store_get(r->store, i), r->run.complaints.list, r->run.complaints.count);
}

static int judge_races(struct report *r, struct err *err)
{
	const struct report_judge *judge = r->config->judge;

	link_complaints(r);
	if (!judge)
		return 0;
	r->run.judged = judge->judge(judge->ctx, r->store, &r->run, err) == 0;
	return r->run.judged ? 0 : -1;
}

static void print_stream(struct report *r, FILE *out, char **text, size_t *len)
{
	if (fclose(out) == 0)
		r->config->print(r->config->print_ctx, *text, *len);
	free(*text);
}

int report_observe(struct report *r, const struct observation *o, struct err *err)
{
	char *text = NULL, line[80];
	size_t len = 0;
	bool is_new;
	struct err own = {0};
	struct race *race = race_store_add(r->store, o, &is_new, &own);
	FILE *out;
	int rc;

	if (!race && race_store_left_out(r->store) && !r->races_full) {
		r->races_full = true;
		snprintf(line, sizeof(line), "the limit of %u races is reached: further races are not reported", RACES_MAX);
		say(r, line);
	}
	if (!race)
		return own.code == EXIT_OK ? 0 : err_set(err, own.code, "%s", own.text);
	if (!is_new)
		return 0;
	rc = complete_race(r, race, err);
	if (update_json(r, err) < 0)
		rc = -1;
	out = open_memstream(&text, &len);
	if (!out)
		return no_memory(err);
	text_race(out, race, &r->config->style);
	print_stream(r, out, &text, &len);
	return rc;
}

void report_reads_log(struct report *r)
{
	r->run.complaints.read = true;
}

int report_complaint(struct report *r, const struct complaint *c, struct err *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	int rc;

	if (run_complaints_add(&r->run.complaints, c) < 0)
		return no_memory(err);
	if (r->run.complaints.left_out) {
		if (r->run.complaints.left_out == 1)
			say(r, "the guest's kernel complains without end: further complaints are not reported");
		return 0;
	}
	rc = update_json(r, err);
	out = open_memstream(&text, &len);
	if (!out)
		return no_memory(err);
	text_complaint(out, c, &r->config->style);
	print_stream(r, out, &text, &len);
	return rc;
}

size_t report_races(const struct report *r)
{
	return race_store_count(r->store);
}

int report_replay(struct report *r, const char *site_a, const char *site_b, const struct replay_instance *instance,
		  struct err *err)
{
	struct err own = {0};
	const struct race *race = race_store_add_replay(r->store, site_a, site_b, instance, &own);
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (!race)
		return own.code == EXIT_OK ? 0 : err_set(err, own.code, "%s", own.text);
	out = open_memstream(&text, &len);
	if (!out)
		return no_memory(err);
	text_replay(out, race, &r->config->style);
	print_stream(r, out, &text, &len);
	return 0;
}

static int print_summary(struct report *r, const struct detect_stats *stats, struct err *err)
{
	const struct report_judge *judge = r->config->judge;
	const struct text_list list = {.put = r->run.judged ? judge->list : NULL, .ctx = r->run.judged ? judge->ctx : NULL};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return no_memory(err);
	text_doubt(out, &r->run, NULL, &r->config->style);
	if (r->suspicions)
		fputs(r->suspicions, out);
	text_summary(out, r->store, stats, list.put ? &list : NULL, &r->config->style);
	if (race_store_count(r->store) && r->run.judged) {
		fputs("  verdicts      ", out);
		judge->sum(judge->ctx, out);
	}
	text_complaints_sum(out, &r->run.complaints);
	if (race_store_count(r->store))
		text_names(out, r->store, r->config->images);
	print_stream(r, out, &text, &len);
	return 0;
}

static int complete_json(struct report *r, const struct detect_stats *stats, struct err *err)
{
	const struct json_items all = all_races(r);
	const struct report_judge *judge = r->config->judge;
	json_t *groups = r->run.judged ? judge->groups(judge->ctx) : NULL;
	char *head, *tail;
	int rc;

	head = document_head(&r->run);
	tail = document_tail(&r->run, &r->modules, stats, r->locks, groups);
	json_decref(groups);
	rc = head && tail ? json_file_rewrite(r->json, head, tail, &all, err) : no_memory(err);
	free(head);
	free(tail);
	return rc;
}

/* Returns text_suspicions() as a string from malloc(), or NULL if memory runs out. */
static char *suspicions_text(const struct report *r, const struct protection *protection, const struct suspicions *suspicions)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	text_suspicions(out, protection, suspicions, &r->config->style);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

int report_name_locks(struct report *r, struct protection *protection, struct err *err)
{
	const struct naming naming = naming_of(r, &r->loaded);
	bool complete = true;
	int rc = naming.images ? naming_locks(&naming, protection, LOCK_NAMES_NS, &complete, err) : 0;

	if (!complete)
		say(r, "naming data and locks by debug files takes too long: some keep the names that the guest's own tables "
		       "give");
	say_names(r);
	return rc;
}

int report_locks(struct report *r, const struct protection *protection, const struct suspicions *suspicions, struct err *err)
{
	r->locks = locks_json_text(protection, suspicions);
	r->suspicions = suspicions_text(r, protection, suspicions);
	for (size_t i = 0; i < race_store_count(r->store); i++) {
		struct race *race = race_store_get(r->store, i);

		race->suspected |= suspicions_find(suspicions, race->id) != NULL;
	}
	return r->locks && r->suspicions ? 0 : no_memory(err);
}

/*
 * Complete the facts of the run. Call this before the verdicts, the summary and the file are made: all three use these facts.
 */
static void end_run(struct report *r, const struct detect_stats *stats, const char *end)
{
	r->run.finished = true;
	r->run.end = end;
	run_time_now(r->run.ended);
	if (!stats)
		return;
	r->run.sampled_ns = stats->sampling_ns;
	r->run.hits = stats->hits;
	r->run.windows = stats->windows;
}

int report_finish(struct report *r, const struct detect_stats *stats, const char *end, struct err *err)
{
	int rc;

	end_run(r, stats, end);
	rc = judge_races(r, err);
	if (print_summary(r, stats, err) < 0)
		rc = -1;
	if (r->json && complete_json(r, stats, err) < 0)
		rc = -1;
	return rc;
}

void report_free(struct report *r)
{
	if (!r)
		return;
	json_file_close(r->json);
	free(r->locks);
	free(r->suspicions);
	race_store_free(r->store);
	report_modules_free(&r->modules);
	report_modules_free(&r->loaded);
	insn_decoder_free(r->decoder);
	run_kernel_free(&r->run.kernel);
	run_complaints_free(&r->run.complaints);
	free(r);
}
