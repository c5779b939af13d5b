// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/session/session.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/session/terminal.h"
#include "hv/report/report.h"

struct session {
	const struct detect_options *options;
	struct engine *engine;
	bool wants_detector;
	struct screen *screen;
	struct terminal terminal;
	struct guest *guest;
	struct detect *detect; /* NULL: nothing is detected */
	bool detecting;
	struct debug_images *images; /* debug files; the reporter thread's while it runs */
	struct report_config report_config;
	struct report *report;
	bool kernel_told;	  /* the reporter thread's, as is */
	uint64_t modules_told;	  /* guest_modules_version() then */
	pthread_mutex_t err_lock; /* of err: the detector's threads fail too */
	struct err err;		  /* of callbacks, until stop_detector() hands it on */
	bool said;		  /* the user has read the error that stop_detector() handed on */
	uint64_t started_ns;
};

/* ---- the detector's sink: its own threads ---- */

static void keep_error(struct session *s, const struct err *err, bool said)
{
	pthread_mutex_lock(&s->err_lock);
	if (s->err.code == EXIT_OK) {
		s->err = *err;
		s->said = said;
	}
	pthread_mutex_unlock(&s->err_lock);
}

static void tell_kernel(struct session *s)
{
	struct report_kernel kernel = {
		.banner = guest_banner(s->guest), .symbols = guest_symbol_source(s->guest), .slide = guest_slide(s->guest)};
	struct err err = {0};

	kernel.build_id_len = guest_build_id(s->guest, &kernel.build_id);
	if (report_set_kernel(s->report, &kernel, &err) < 0)
		keep_error(s, &err, false);
}

/* ---- the modules loaded, for the report ---- */

struct module_list {
	struct report_module *list;
	size_t count;
	bool failed;
};

static void copy_module(void *ctx, const struct guest_module *m)
{
	struct module_list *l = ctx;
	struct report_module *list = realloc(l->list, (l->count + 1) * sizeof(*list)), *to;
	struct image_section *sections = calloc(m->nsections + 1, sizeof(*sections));

	if (list)
		l->list = list;
	if (!list || !sections) {
		free(sections);
		l->failed = true;
		return;
	}
	to = &list[l->count++];
	*to = (struct report_module){
		.id = m->generation, .base = m->base, .size = m->size, .sections = sections, .nsections = m->nsections};
	snprintf(to->name, sizeof(to->name), "%s", m->name);
	memcpy(to->build_id, m->build_id, m->build_id_len);
	to->build_id_len = m->build_id_len;
	if (m->nsections)
		memcpy(sections, m->sections, m->nsections * sizeof(*sections));
}

static void tell_modules(struct session *s)
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

static void on_race(void *ctx, const struct observation *o)
{
	struct session *s = ctx;
	struct err err = {0};

	if (!s->kernel_told) {
		s->kernel_told = true;
		tell_kernel(s);
	}
	if (s->modules_told != guest_modules_version(s->guest))
		tell_modules(s);
	if (report_observe(s->report, o, &err) == 0)
		return;
	/* Said at once, since the run goes on; the exit code remembers it. */
	screen_note(s->screen, err.text);
	keep_error(s, &err, true);
}

static void on_note(void *ctx, const char *line)
{
	struct session *s = ctx;

	screen_note(s->screen, line);
}

static void on_failed(void *ctx, const struct err *err)
{
	keep_error(ctx, err, false);
}

/* ---- the report's callbacks ---- */

static void print(void *ctx, const char *text, size_t len)
{
	struct session *s = ctx;

	screen_report(s->screen, text, len);
}

static int symbol_at(void *ctx, uint64_t addr, struct guest_symbol *out)
{
	struct session *s = ctx;

	return guest_symbol_at(s->guest, addr, out);
}

/* ---- life ---- */

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A vmlinux has lines and types too; a System.map, which has not, is text. */
static bool has_debug_info(const char *path)
{
	char magic[4] = "";
	FILE *file = fopen(path, "r");
	bool elf;

	if (!file)
		return false;
	elf = fread(magic, 1, sizeof(magic), file) == sizeof(magic) && memcmp(magic, "\177ELF", sizeof(magic)) == 0;
	fclose(file);
	return elf;
}

static int open_names(struct session *s, struct err *err)
{
	const struct debug_images_sink sink = {.note = on_note, .ctx = s};
	const char *symbols = s->options->symbols;

	s->images = debug_images_new(&sink, err);
	if (!s->images)
		return -1;
	if (symbols && (is_folder(symbols) || has_debug_info(symbols)) && debug_images_add(s->images, symbols, err) < 0)
		return -1;
	return debug_images_add_usual(s->images, err);
}

static int open_report(struct session *s, struct err *err)
{
	const struct detect_options *o = s->options;
	const struct engine *e = s->engine;

	s->report_config = (struct report_config){
		.json = o->json,
		.images = s->images,
		.style = {.colour = terminal_wants_colour(), .symbol_at = symbol_at, .ctx = s},
		.print = print,
		.print_ctx = s,
		.tool_version = OUTRIDER_VERSION,
		.kernel_file = e->kernel,
		.cmdline = e->cmdline,
		.sample = o->config.sample,
		.module = o->config.module,
		.seed = o->config.seed,
		.delay_ns = o->config.delay_ns,
		.memory = e->memory,
		.rate = o->config.rate,
		.cpus = e->cpus,
	};
	s->report = report_new(&s->report_config, err);
	return s->report ? 0 : -1;
}

/* Asked for before there is a race, so that the reporter thread has no use of the names yet. */
static const char *find_vmlinux(void *ctx, const uint8_t *id, size_t len)
{
	struct session *s = ctx;

	return debug_images_path(s->images, DEBUG_IMAGE_KERNEL, id, len);
}

static int open_detector(struct session *s, struct err *err)
{
	const struct detect_sink sink = {.race = on_race, .note = on_note, .failed = on_failed, .ctx = s};
	const struct guest_symbol_files files = {.find = find_vmlinux, .ctx = s};
	const char *symbols = s->options->symbols;

	/* A folder's files are for names; what is where the guest says best itself. */
	s->guest = guest_new(s->engine->target, symbols && is_folder(symbols) ? NULL : symbols, &files, err);
	if (!s->guest)
		return -1;
	s->detect = detect_new(s->engine->target, s->guest, &s->options->config, &sink, err);
	if (!s->detect)
		return -1;
	s->engine->target->client = detect_client(s->detect);
	return 0;
}

static int open_all(struct session *s, struct err *err)
{
	s->screen = screen_new(err);
	if (!s->screen || s->engine->ops->open(s->engine, s->screen, err) < 0)
		return -1;
	/* The report last: its file takes the place of an older one only when the run can begin. */
	if (s->wants_detector && (open_names(s, err) < 0 || open_detector(s, err) < 0 || open_report(s, err) < 0))
		return -1;
	if (s->engine->keyboard)
		terminal_guest_mode(&s->terminal);
	return 0;
}

static int start_detector(struct session *s, struct err *err)
{
	char line[80];

	s->started_ns = monotonic_ns();
	if (!s->detect)
		return 0;
	snprintf(line, sizeof(line), "%s; seed %" PRIu64, s->engine->beginning, s->options->config.seed);
	screen_note(s->screen, line);
	s->detecting = true;
	return detect_start(s->detect, err);
}

/* Time sampled so far; without detector, time since the start. */
static uint64_t elapsed_ns(void *session)
{
	struct session *s = session;
	struct detect_stats stats;

	if (!s->detect)
		return monotonic_ns() - s->started_ns;
	detect_stats(s->detect, &stats);
	return stats.sampling_ns;
}

/* Join the detector's threads. What they failed with comes into err, which keeps an error it has. */
static void stop_detector(struct session *s, struct err *err)
{
	s->engine->ops->over(s->engine);
	if (s->detecting)
		detect_stop(s->detect);
	s->detecting = false;
	if (s->err.code != EXIT_OK) {
		s->said = s->said && err->code == EXIT_OK;
		err_set(err, s->err.code, "%s", s->err.text);
	}
}

/* The word of the summary. */
static const char *end_word(struct session *s, enum stop_reason stopped, struct err *err)
{
	const char *ended = s->engine->ops->end_word(s->engine, stopped, err);

	if (err->code == EXIT_GUEST)
		return "guest died";
	if (err->code != EXIT_OK)
		return "failed";
	if (stopped == STOP_SIGNAL)
		return "stopped by a signal";
	return stopped == STOP_DURATION ? "duration over" : ended;
}

/* Print the summary, complete the JSON file. */
static void summarize(struct session *s, const char *end, struct err *err)
{
	struct detect_stats stats;

	terminal_restore(&s->terminal);
	if (!s->report)
		return;
	detect_stats(s->detect, &stats);
	report_finish(s->report, &stats, end, err);
}

static void run_all(struct session *s, struct err *err)
{
	const struct stopper_config config = {s->engine, s->screen, &s->terminal, s->options->duration_ns, elapsed_ns, s};
	struct stopper *stopper = stopper_start(&config, err);
	enum stop_reason stopped;

	if (!stopper)
		return;
	if (start_detector(s, err) == 0)
		s->engine->ops->run(s->engine, err);
	stop_detector(s, err);
	s->engine->ops->finish(s->engine, err);
	stopped = stopper_finish(stopper);
	summarize(s, end_word(s, stopped, err), err);
}

/* Everything given back, the terminal as it was. Errors found on the way come into err. */
static void close_all(struct session *s, struct err *err)
{
	terminal_restore(&s->terminal);
	report_free(s->report);
	debug_images_free(s->images);
	detect_free(s->detect);
	guest_free(s->guest);
	s->engine->ops->close(s->engine);
	if (s->screen)
		screen_check(s->screen, err);
	screen_free(s->screen);
	pthread_mutex_destroy(&s->err_lock);
}

int session_run(struct engine *engine, const struct detect_options *options, bool detect)
{
	struct session s = {
		.options = options, .engine = engine, .wants_detector = detect, .err_lock = PTHREAD_MUTEX_INITIALIZER};
	struct err err = {0};

	if (open_all(&s, &err) == 0)
		run_all(&s, &err);
	close_all(&s, &err);
	return err.code == EXIT_OK || s.said ? (int)err.code : cli_fail(&err);
}
