// SPDX-License-Identifier: GPL-2.0-or-later
/* The receiver of the detector's callbacks (sink.h): adds races to the report, and shows messages and errors. */
#include "hv/session/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"

static void keep_error(struct sink *s, const struct err *err, bool said)
{
	pthread_mutex_lock(&s->lock);
	if (s->err.code == EXIT_OK) {
		s->err = *err;
		s->said = said;
	}
	pthread_mutex_unlock(&s->lock);
}

static void tell_kernel(struct sink *s)
{
	struct report_kernel kernel = {
		.banner = guest_banner(s->guest), .symbols = guest_symbol_source(s->guest), .slide = guest_slide(s->guest)};
	struct err err = {0};

	kernel.build_id_len = guest_build_id(s->guest, &kernel.build_id);
	if (report_set_kernel(s->report, &kernel, &err) < 0)
		keep_error(s, &err, false);
}

void sink_kernel_known(struct sink *s)
{
	if (s->kernel_told)
		return;
	s->kernel_told = true;
	tell_kernel(s);
}

struct module_list {
	struct report_module *list;
	size_t count;
	bool failed;
};

static void copy_module(void *ctx, const struct guest_module *m)
{
	struct module_list *l = ctx;
	struct image_section *sections = calloc(m->nsections + 1, sizeof(*sections));
	struct report_module *to = sections ? list_grow(&l->list, &l->count, sizeof(*to), NULL) : NULL;

	if (!to) {
		free(sections);
		l->failed = true;
		return;
	}
	*to = (struct report_module){
		.id = m->generation, .base = m->base, .size = m->size, .sections = sections, .nsections = m->nsections};
	snprintf(to->name, sizeof(to->name), "%s", m->name);
	memcpy(to->build_id, m->build_id, m->build_id_len);
	to->build_id_len = m->build_id_len;
	if (m->nsections)
		memcpy(sections, m->sections, m->nsections * sizeof(*sections));
}

static void tell_modules(struct sink *s)
{
	struct module_list l = {0};
	struct err err = {0};

	s->modules_told = guest_modules_version(s->guest);
	guest_each_module(s->guest, copy_module, &l);
	if (l.failed)
		err_set(&err, EXIT_INTERNAL, "out of memory while copying the list of modules");
	else
		report_set_modules(s->report, l.list, l.count, &err);
	if (err.code != EXIT_OK)
		keep_error(s, &err, false);
	for (size_t i = 0; i < l.count; i++)
		free(l.list[i].sections);
	free(l.list);
}

/* Show an error at once, since the run continues, and keep it for the exit code. */
static void tell_error(struct sink *s, const struct err *err)
{
	screen_error(s->screen, err->text);
	keep_error(s, err, true);
}

/* Tell the suspector which race was seen, by the race's ID. */
static void tell_suspector(const struct sink *s, const struct observation *o)
{
	char site[2][SITE_NAME_MAX], id[RACE_ID_MAX];

	for (unsigned i = 0; i < 2; i++)
		site_name(&o->sides[i], guest_slide(s->guest), site[i]);
	race_id(site[0], site[1], id);
	suspector_race(s->suspector, id);
}

static void on_race(void *ctx, const struct observation *o)
{
	struct sink *s = ctx;
	struct err err = {0};
	int rc;

	pthread_mutex_lock(&s->report_lock);
	sink_kernel_known(s);
	if (s->modules_told != guest_modules_version(s->guest))
		tell_modules(s);
	rc = report_observe(s->report, o, &err);
	atomic_store(&s->races, report_races(s->report));
	pthread_mutex_unlock(&s->report_lock);
	if (rc < 0)
		tell_error(s, &err);
	if (s->replayer)
		replayer_kernel_known(s->replayer);
	if (s->suspector)
		tell_suspector(s, o);
}

/*
 * Returns whether this complaint ends the run. A panic always does, and so does a corrupt kernel stack, at which the kernel
 * panics: the guest then halts for ever. The stopper looks for a panic only on the console, where the guest may not show it.
 */
static bool ends_run(const struct sink *s, const struct complaint *c)
{
	if (c->kind == COMPLAINT_PANIC || c->kind == COMPLAINT_STACK_PROTECTOR)
		return true;
	return s->complaint_stop == COMPLAINT_STOP_ANY || (s->complaint_stop == COMPLAINT_STOP_FATAL && c->fatal);
}

static void on_complaint(void *ctx, const struct complaint *c)
{
	struct sink *s = ctx;
	struct err err = {0};
	int rc;

	pthread_mutex_lock(&s->report_lock);
	rc = report_complaint(s->report, c, &err);
	pthread_mutex_unlock(&s->report_lock);
	if (rc < 0)
		tell_error(s, &err);
	if (s->replayer)
		replayer_complained(s->replayer);
	if (!ends_run(s, c) || atomic_load(&s->complained))
		return;
	memcpy(s->complaint, c->text, sizeof(s->complaint));
	atomic_store(&s->complained, true);
}

static void on_log_read(void *ctx)
{
	struct sink *s = ctx;

	pthread_mutex_lock(&s->report_lock);
	report_reads_log(s->report);
	pthread_mutex_unlock(&s->report_lock);
	/*
	 * Tell the replayer already before the first race that the kernel was found, so that the first rendezvous can be
	 * replayed: if its race kills the guest, there is no second one.
	 */
	if (s->replayer)
		replayer_kernel_known(s->replayer);
}

static void on_moment(void *ctx, const struct lock_moment *m)
{
	const struct sink *s = ctx;

	suspector_moment(s->suspector, m);
}

int sink_name_locks(void *sink, struct protection *p, struct err *err)
{
	struct sink *s = sink;
	int rc;

	pthread_mutex_lock(&s->report_lock);
	sink_kernel_known(s);
	if (s->modules_told != guest_modules_version(s->guest))
		tell_modules(s);
	rc = report_name_locks(s->report, p, err);
	pthread_mutex_unlock(&s->report_lock);
	return rc;
}

void sink_replayed(void *sink, const char *site_a, const char *site_b, const struct replay_instance *instance)
{
	struct sink *s = sink;
	struct err err = {0};
	int rc;

	pthread_mutex_lock(&s->report_lock);
	rc = report_replay(s->report, site_a, site_b, instance, &err);
	pthread_mutex_unlock(&s->report_lock);
	if (rc < 0)
		tell_error(s, &err);
}

void sink_sections_replayed(void *sink, const struct rendezvous_sections *sections,
			    const struct section_replay_instance *instance)
{
	const struct sink *s = sink;

	if (s->suspector)
		suspector_sections_replayed(s->suspector, sections, instance);
}

static bool on_rendezvous_wanted(void *ctx, uint64_t gva_a, uint64_t gva_b)
{
	const struct sink *s = ctx;

	return replayer_wants(s->replayer, gva_a, gva_b);
}

static bool on_sections_wanted(void *ctx, uint64_t first, uint64_t second, uint64_t between, bool begin)
{
	const struct sink *s = ctx;

	return replayer_wants_sections(s->replayer, first, second, between, begin);
}

static void on_rendezvous(void *ctx, const struct rendezvous *m)
{
	const struct sink *s = ctx;

	replayer_rendezvous(s->replayer, m);
}

static void on_message(void *ctx, const char *line)
{
	struct sink *s = ctx;

	screen_message(s->screen, line);
}

static void on_failed(void *ctx, const struct err *err)
{
	keep_error(ctx, err, false);
}

void sink_init(struct sink *s)
{
	*s = (struct sink){.lock = PTHREAD_MUTEX_INITIALIZER, .report_lock = PTHREAD_MUTEX_INITIALIZER};
}

void sink_destroy(struct sink *s)
{
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->report_lock);
}

struct detect_sink sink_callbacks(struct sink *s, bool replays, bool locks)
{
	return (struct detect_sink){.race = on_race,
				    .message = on_message,
				    .failed = on_failed,
				    .rendezvous_wanted = replays ? on_rendezvous_wanted : NULL,
				    .rendezvous = replays ? on_rendezvous : NULL,
				    .sections_wanted = replays && locks ? on_sections_wanted : NULL,
				    .moment = locks ? on_moment : NULL,
				    .log_read = on_log_read,
				    .complaint = on_complaint,
				    .ctx = s};
}

bool sink_take_error(struct sink *s, struct err *err)
{
	bool taken = s->err.code != EXIT_OK && err->code == EXIT_OK;

	if (taken)
		err_set(err, s->err.code, "%s", s->err.text);
	return taken && s->said;
}
