// SPDX-License-Identifier: GPL-2.0-or-later
/* A session (session.h): one search for races in one machine, from opening the machine to the last line of the report. */
#include "hv/session/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/report/report.h"
#include "hv/sandbox/sandbox.h"
#include "hv/session/coverage_keeper.h"
#include "hv/session/host.h"
#include "hv/session/stats_line.h"
#include "hv/session/status_line.h"
#include "hv/session/sink.h"
#include "hv/session/symbol_files.h"
#include "hv/session/stopper.h"
#include "hv/session/terminal.h"

/* Period of the progress messages of --verbose without --stats-every. */
#define VERBOSE_EVERY_NS UINT64_C(10000000000)
/*
 * While no point is armed, a run goes on for at least 2 s after the first try to arm one, even if --duration is shorter. On a
 * loaded host, arming the first point through a gdbstub can take seconds.
 */
#define FIRST_POINT_NS UINT64_C(2000000000)
#define NS_PER_S 1e9

struct session {
	const struct session_config *config;
	struct engine *engine;
	struct stopper *stopper;
	struct screen *screen;
	struct terminal terminal;
	struct guest *guest;
	struct lock_functions *locks; /* NULL: locks are not followed. */
	/* The detector. NULL: the session does not look for races. */
	struct detect *detect;
	bool running;	/* The engine's run() was called. */
	bool detecting; /* The detector's threads run. */
	/* The debug files. While the reporter's thread runs, only that thread uses them. */
	struct debug_images *images;
	struct host host;
	struct report_config report_config;
	struct report *report;
	struct coverage_keeper *coverage; /* NULL: coverage is not recorded. */
	struct sink sink;
	/* Makes the kernel's OOM killer prefer copies of the machine. All zero without --replay. */
	struct expendable expendable;
	/* The user has seen the detector's error that stop_detector() stored, so session_run() does not return its text. */
	bool said;
	uint64_t started_ns;
	/* Used only by the stopper's thread (stopper.h). */
	struct stats_line stats_line;
	struct status_line status_line;
};

/* ---- the report's callbacks ---- */

static void print(void *ctx, const char *text, size_t len)
{
	struct session *s = ctx;

	screen_report(s->screen, text, len);
}

static void say(void *ctx, const char *line)
{
	struct session *s = ctx;

	screen_message(s->screen, line);
}

static int symbol_at(void *ctx, uint64_t addr, struct guest_symbol *out)
{
	struct session *s = ctx;

	return guest_symbol_at(s->guest, addr, out);
}

/* ---- life cycle ---- */

/* Returns whether a signal such as Ctrl-C has come: downloads of debug files are then cancelled. */
static bool cancelled(void *ctx)
{
	const struct session *s = ctx;

	return stopper_signal(s->stopper) != 0;
}

static int open_names(struct session *s, struct err *err)
{
	const struct session_config *o = s->config;
	const struct debug_images_sink sink = {
		.message = say, .found = o->verbose ? say : NULL, .cancelled = cancelled, .ctx = s};

	s->images = debug_images_new(&sink, err);
	if (!s->images)
		return -1;
	if (symbol_files_add(o->symbols, o->symbol_count, s->images, err) < 0)
		return -1;
	if (o->debuginfod && debug_images_use_debuginfod(s->images, err) < 0)
		return -1;
	return debug_images_add_usual(s->images, err);
}

/* ---- confinement ---- */

/* Called before a forbidden system call ends the process: restore the terminal's mode. */
static void last(void *ctx)
{
	struct session *s = ctx;

	terminal_restore(&s->terminal);
}

static bool confined(const struct session *s)
{
	return s->engine->sandbox_kinds && !s->config->no_sandbox && sandbox_available(NULL, 0);
}

static int confine(struct session *s, struct err *err)
{
	const char *const writes[] = {s->config->json, s->config->coverage, s->engine->socket};
	const struct sandbox_config config = {
		.used = s->engine->sandbox_kinds | 1u << SANDBOX_STOPPER | 1u << SANDBOX_SAMPLER | 1u << SANDBOX_REPORTER |
			(s->config->replay ? 1u << SANDBOX_COPY : 0),
		.fetch = s->config->debuginfod,
		.writes = writes,
		.write_count = sizeof(writes) / sizeof(writes[0]),
		.folder = s->config->replay_save,
		.calls = s->engine->sandbox_kinds & 1u << SANDBOX_VSOCK ? s->engine->socket : NULL,
	};

	return confined(s) ? sandbox_enter(&config, err) : 0;
}

/* Tell the user which parts of the confinement this host does not have. */
static void say_missing(struct session *s)
{
	char line[SANDBOX_MISSING_MAX];

	if (s->screen && confined(s) && sandbox_missing(line))
		say(s, line);
}

static enum run_sandbox sandbox_word(const struct session *s)
{
	if (!s->engine->sandbox_kinds)
		return RUN_SANDBOX_UNKNOWN;
	return confined(s) ? RUN_SANDBOX_ON : RUN_SANDBOX_OFF;
}

static int open_report(struct session *s, struct err *err)
{
	const struct session_config *o = s->config;
	const struct engine *e = s->engine;

	host_read(&s->host);
	s->report_config = (struct report_config){
		.json = o->json,
		.images = s->images,
		.sources = o->sources,
		.judge = o->judge,
		.style = {.colour = terminal_wants_colour(STDOUT_FILENO), .symbol_at = symbol_at, .ctx = s},
		.print = print,
		.message = say,
		.print_ctx = s,
		.run = {.tool_version = OUTRIDER_VERSION,
			.host = s->host.facts,
			.options = o->options,
			.option_count = o->option_count,
			.kernel_file = e->kernel,
			.cmdline = e->cmdline,
			.sample = o->detect.sample,
			.module = o->detect.module,
			.seed = o->detect.seed,
			.delay_ns = o->detect.delay_ns,
			.duration_ns = o->duration_ns,
			.memory = e->memory,
			.rate = o->detect.rate,
			.overhead_percent = o->overhead_percent,
			.cpus = e->cpus,
			.sandbox = sandbox_word(s)},
	};
	run_time_now(s->report_config.run.started);
	s->report = report_new(&s->report_config, err);
	s->sink.report = s->report;
	return s->report ? 0 : -1;
}

static int open_coverage(struct session *s, struct err *err)
{
	const struct coverage_keeper_config config = {.path = s->config->coverage,
						      .detect = s->detect,
						      .guest = s->guest,
						      .screen = s->screen,
						      .seed = s->config->detect.seed};

	if (!config.path)
		return 0;
	s->coverage = coverage_keeper_new(&config, err);
	return s->coverage ? 0 : -1;
}

static int open_locks(struct session *s, struct err *err)
{
	if (!s->config->suspect || s->config->no_detect)
		return 0;
	s->locks = lock_functions_new(err);
	if (!s->locks)
		return -1;
	return s->config->lock_list ? lock_functions_load(s->locks, s->config->lock_list, err) : 0;
}

/*
 * Find a vmlinux by its build ID. Debug files may be used here: the detector calls this function before the first race, when
 * the reporter's thread does not use them yet.
 */
static const char *find_vmlinux(void *ctx, const uint8_t *id, size_t len)
{
	struct session *s = ctx;

	return debug_images_path(s->images, DEBUG_IMAGE_KERNEL, id, len);
}

static int open_detector(struct session *s, struct err *err)
{
	const struct detect_sink callbacks = sink_callbacks(&s->sink, s->config->replay, s->config->suspect);
	const struct guest_symbol_files files = {.find = find_vmlinux, .ctx = s};
	struct detect_config detect = s->config->detect;
	const char *symbols;

	/*
	 * Take kernel symbols from a file of --symbols, but not from its folders: unless the user names a file, the guest's own
	 * tables are the better source.
	 */
	if (symbol_files_kernel(s->config->symbols, s->config->symbol_count, &symbols, err) < 0)
		return -1;
	s->guest = guest_new(s->engine->target, symbols, &files, err);
	if (!s->guest)
		return -1;
	detect.locks = s->locks;
	s->detect = detect_new(s->engine->target, s->guest, &detect, &callbacks, err);
	if (!s->detect)
		return -1;
	s->engine->target->client = detect_client(s->detect);
	s->sink.guest = s->guest;
	return 0;
}

static int open_replayer(struct session *s, struct err *err)
{
	const struct replayer_config config = {.engine = s->engine,
					       .guest = s->guest,
					       .screen = s->screen,
					       .free_ns = s->config->replay_free_ns,
					       .expendable = &s->expendable,
					       .save = s->config->replay_save,
					       .replayed = sink_replayed,
					       .sections_replayed = s->config->suspect ? sink_sections_replayed : NULL,
					       .ctx = &s->sink};

	if (!s->config->replay)
		return 0;
	s->sink.replayer = replayer_new(&config, err);
	return s->sink.replayer ? 0 : -1;
}

static int open_suspector(struct session *s, struct err *err)
{
	const struct suspector_config config = {.detect = s->detect,
						.guest = s->guest,
						.screen = s->screen,
						.judge = s->config->suspect,
						.namer = {sink_name_locks, &s->sink}};

	if (!config.judge)
		return 0;
	s->sink.suspector = suspector_new(&config, err);
	return s->sink.suspector ? 0 : -1;
}

static int open_all(struct session *s, struct err *err)
{
	s->screen = screen_new(err);
	if (s->screen && s->config->quiet)
		screen_set_quiet(s->screen);
	if (s->screen && s->engine->sandbox_kinds && !confined(s))
		say(s, "outrider is not confined: do not run a guest that you do not trust");
	say_missing(s);
	s->sink.screen = s->screen;
	s->sink.complaint_stop = s->config->complaint_stop;
	if (s->screen && s->config->replay && expendable_start(&s->expendable, err) < 0)
		return -1;
	/*
	 * Read the list of lock functions before the engine opens the machine: an error in the list must not stop a guest that
	 * is running already.
	 */
	if (!s->screen || open_locks(s, err) < 0 || s->engine->ops->open(s->engine, s->screen, err) < 0)
		return -1;
	/* Drop privileges now: starting a libvirt machine's gdbstub may need them, but reading the guest's memory does not. */
	if (s->engine->sandbox_kinds ? sandbox_drop(err) < 0 : sandbox_no_new_privileges(err) < 0)
		return -1;
	if (!s->config->no_detect &&
	    (open_names(s, err) < 0 || open_detector(s, err) < 0 || open_replayer(s, err) < 0 || open_suspector(s, err) < 0))
		return -1;
	/* Open the output files last, so that they replace older ones only if the run can begin. */
	if (stopper_signal(s->stopper) || (!s->config->no_detect && (open_coverage(s, err) < 0 || open_report(s, err) < 0)))
		return -1;
	if (s->engine->keyboard)
		terminal_guest_mode(&s->terminal);
	return 0;
}

static int start_detector(struct session *s, struct err *err)
{
	char line[80];

	if (!s->detect)
		return 0;
	snprintf(line, sizeof(line), "%s; seed %" PRIu64, s->engine->beginning, s->config->detect.seed);
	screen_message(s->screen, line);
	if (s->sink.replayer && replayer_start(s->sink.replayer, err) < 0)
		return -1;
	if (s->sink.suspector && suspector_start(s->sink.suspector, err) < 0)
		return -1;
	s->detecting = true;
	if (detect_start(s->detect, err) < 0)
		return -1;
	return s->coverage ? coverage_keeper_start(s->coverage, err) : 0;
}

/*
 * Returns the time sampled so far, in ns. Before the first point is armed, returns the time since the first try to arm one, or
 * 0 while that time is at most FIRST_POINT_NS. Without a detector, returns the time since the start.
 */
static uint64_t elapsed_ns(void *session)
{
	struct session *s = session;
	uint64_t ns;

	if (!s->detect)
		return monotonic_ns() - s->started_ns;
	ns = detect_sampled_ns(s->detect);
	if (ns)
		return ns;
	ns = detect_ready_ns(s->detect);
	return ns > FIRST_POINT_NS ? ns : 0;
}

static bool is_ready(void *session)
{
	const struct session *s = session;

	return !s->detect || detect_ready_ns(s->detect);
}

static bool complained(void *session)
{
	struct session *s = session;

	return atomic_load(&s->sink.complained);
}

/* Returns what the run waits for, or NULL once a sample point was armed. */
static const char *waits_for(const struct session *s)
{
	if (detect_sampled_ns(s->detect))
		return NULL;
	switch (guest_progress(s->guest)) {
	case GUEST_SEARCHED:
		return "waiting for the kernel";
	case GUEST_READING:
		return "reading the kernel's symbols";
	case GUEST_BOOTING:
		return "waiting for the kernel to boot";
	case GUEST_READY:
		break;
	}
	return s->config->detect.module && detect_ready_ns(s->detect) ? "waiting for the modules of --module" : "arming";
}

/*
 * Draw the status line, if a second has passed since it was last drawn. If the guest's console is on the screen, draw no status
 * line, because it would interrupt the guest's output. Like show_stats(), this function does not wait.
 */
static void draw_status(struct session *s)
{
	struct status_now now = {
		.waits = waits_for(s), .duration_ns = s->config->duration_ns, .races = atomic_load(&s->sink.races)};
	char line[STATUS_LINE_MAX];
	uint64_t ns = monotonic_ns();

	if (s->engine->console_on_screen || !status_line_is_due(&s->status_line, ns) ||
	    (!now.waits && !detect_try_stats(s->detect, &now.stats)))
		return;
	now.stats.asked_percent = s->config->overhead_percent;
	now.elapsed_ns = now.waits ? ns - s->started_ns : now.stats.sampling_ns;
	status_line_make(&s->status_line, &now, ns, line);
	screen_status(s->screen, line);
}

/* Show the progress, if a message is due. */
static void show_stats(struct session *s)
{
	struct stats_sample now = {0};
	char line[STATS_LINE_MAX];

	/*
	 * The stopper's thread calls this function. That thread must not wait, because it ends the run on a signal (stopper.h).
	 * So do nothing if another thread holds the detector's lock: the next call comes soon. screen_try_message() does not
	 * wait for the reader of standard error.
	 */
	if (!stats_line_is_due(&s->stats_line, detect_sampled_ns(s->detect)) || !detect_try_stats(s->detect, &now.stats))
		return;
	now.races = atomic_load(&s->sink.races);
	stats_line_make(&s->stats_line, &now, line);
	screen_try_message(s->screen, line);
}

/* Show the progress on the screen. Called repeatedly on the stopper's thread (stopper.h) while the engine runs. */
static void tell_progress(void *session)
{
	struct session *s = session;

	if (!s->detect)
		return;
	show_stats(s);
	draw_status(s);
}

/* Returns whether the run may go on: no signal has asked it to end. */
static bool not_asked_to_end(void *session)
{
	const struct session *s = session;

	return stopper_signal(s->stopper) == 0;
}

/* Join the detector's threads. Sets `err` to their first failure, unless `err` has an error already. */
static void stop_detector(struct session *s, struct err *err)
{
	/*
	 * Call over() before the detector is stopped. Otherwise a thread of the detector could wait for a CPU that runs no
	 * more, and keep the reporter's thread from reading the guest's log.
	 */
	s->engine->ops->over(s->engine);
	replayer_wait(s->sink.replayer, not_asked_to_end, s);
	replayer_closing(s->sink.replayer);
	if (s->detecting)
		detect_stop(s->detect);
	s->detecting = false;
	replayer_stop(s->sink.replayer);
	suspector_finish(s->sink.suspector, err);
	s->said = sink_take_error(&s->sink, err);
}

static void judge_no_kernel(const struct session *s, struct err *err)
{
	const char *found = s->guest ? guest_banner(s->guest) : "";

	err_set(err, EXIT_INPUT,
		"%s within %g s of %s: see its console; if it only boots slowly, give --wait-kernel a longer time",
		found[0] ? "the guest's kernel has not finished booting" : "no Linux kernel was found in the guest",
		(double)s->config->wait_kernel_ns / NS_PER_S, s->engine->since);
}

/* Set `err`, for a run that found the kernel but sampled nothing. */
static void judge_no_point(const struct session *s, struct err *err)
{
	const struct detect_config *d = &s->config->detect;

	if (d->module)
		err_set(err, EXIT_INPUT,
			"nothing was sampled: while --duration lasted, no module %s with anything to sample was loaded; load "
			"it "
			"earlier, or give --duration a longer time",
			d->module);
	else if (d->sample)
		err_set(err, EXIT_INPUT, "nothing was sampled: no function that can be sampled has a name of --sample %s",
			d->sample);
	else
		err_set(err, EXIT_INPUT, "nothing was sampled: no point could be armed while --duration lasted");
}

/* Set `err` if a limit ended the run before its work was done. */
static void judge_limit(const struct session *s, enum stop_reason stopped, struct err *err)
{
	if (stopped == STOP_TIMEOUT)
		err_set(err, EXIT_TIMEOUT, "--timeout: the run had not ended %g s after its start",
			(double)s->config->timeout_ns / NS_PER_S);
	else if (stopped == STOP_NO_KERNEL)
		judge_no_kernel(s, err);
	else if (stopped == STOP_DURATION && s->detect && !detect_sampled_ns(s->detect))
		judge_no_point(s, err);
}

/* Returns a few words on how the run ended, for the summary. */
static const char *end_word(struct session *s, enum stop_reason stopped, struct err *err)
{
	const char *ended = s->engine->ops->end_word(s->engine, stopped, err);

	if (err->code == EXIT_OK)
		judge_limit(s, stopped, err);
	if (err->code == EXIT_OK && stopped == STOP_COMPLAINT) {
		err_set(err, EXIT_GUEST, COMPLAINT_MESSAGE, s->sink.complaint);
		return "the guest's kernel complained";
	}
	if (err->code == EXIT_GUEST)
		return "guest died";
	if (err->code == EXIT_TIMEOUT)
		return "timed out";
	if (stopped == STOP_NO_KERNEL)
		return "no kernel found";
	if (err->code != EXIT_OK)
		return "failed";
	if (stopped == STOP_SIGNAL)
		return "stopped by a signal";
	return stopped == STOP_DURATION ? "duration over" : ended;
}

/* Print the summary and complete the JSON files. */
static void summarize(struct session *s, const char *end, struct err *err)
{
	struct detect_stats stats;

	terminal_restore(&s->terminal);
	if (!s->report)
		return;
	detect_stats(s->detect, &stats);
	stats.asked_percent = s->config->overhead_percent;
	if (s->sink.suspector && detect_sampled_ns(s->detect)) {
		sink_kernel_known(&s->sink);
		report_locks(s->report, suspector_record(s->sink.suspector), suspector_found(s->sink.suspector), err);
	}
	report_finish(s->report, &stats, end, err);
	coverage_keeper_finish(s->coverage, err);
}

/* Returns the name of the engine's thread that still waits for the host, or NULL if there is none. */
static const char *left(const struct session *s)
{
	return s->running && s->engine->ops->left ? s->engine->ops->left(s->engine) : NULL;
}

static void tell_left(struct session *s)
{
	char line[120];

	if (!left(s))
		return;
	snprintf(line, sizeof(line), "the thread \"%s\" still waits for the host, and is left behind", left(s));
	screen_try_message(s->screen, line);
}

static void run_all(struct session *s, struct err *err)
{
	enum stop_reason stopped;

	s->started_ns = monotonic_ns();
	s->running = stopper_running(s->stopper, s->screen);
	if (!s->running)
		return;
	if (confine(s, err) == 0 && start_detector(s, err) == 0)
		s->engine->ops->run(s->engine, err);
	screen_end_status(s->screen);
	tell_left(s);
	stop_detector(s, err);
	s->engine->ops->finish(s->engine, err);
	stopped = stopper_ending(s->stopper);
	summarize(s, end_word(s, stopped, err), err);
}

/* Free everything and restore the terminal. Errors are stored in `err`. */
static void close_all(struct session *s, struct err *err)
{
	terminal_restore(&s->terminal);
	if (left(s)) {
		/* Free nothing: the engine's thread that waits for the host still uses the memory, and the process ends now. */
		if (s->engine->socket)
			unlink(s->engine->socket);
		screen_check(s->screen, err);
		return;
	}
	report_free(s->report);
	coverage_keeper_free(s->coverage);
	debug_images_free(s->images);
	detect_free(s->detect);
	replayer_free(s->sink.replayer);
	suspector_free(s->sink.suspector);
	expendable_stop(&s->expendable);
	lock_functions_free(s->locks);
	guest_free(s->guest);
	s->engine->ops->close(s->engine);
	if (s->screen)
		screen_check(s->screen, err);
	screen_free(s->screen);
	sink_destroy(&s->sink);
}

/*
 * A signal came before the run began. Set `err` to a message about the signal, in place of any other error, since the signal
 * may have caused that error. Returns the exit code.
 */
static int gave_up(int number, struct err *err)
{
	*err = (struct err){0};
	err_set(err, EXIT_INPUT, STOPPER_GAVE_UP, sigabbrev_np(number));
	return 128 + number;
}

int session_run(struct engine *engine, const struct session_config *config, struct err *err)
{
	struct session s = {.config = config, .engine = engine};
	const struct stopper_config stopper = {.engine = engine,
					       .terminal = &s.terminal,
					       .duration_ns = config->duration_ns,
					       .wait_kernel_ns = config->no_detect ? 0 : config->wait_kernel_ns,
					       .timeout_ns = config->timeout_ns,
					       .is_ready = is_ready,
					       .elapsed_ns = elapsed_ns,
					       .complained = complained,
					       .tick = tell_progress,
					       .ctx = &s};
	int code, kept_from;

	s.stats_line.every_ns = config->stats_every_ns || !config->verbose ? config->stats_every_ns : VERBOSE_EVERY_NS;
	if (engine->sandbox_kinds && !config->no_sandbox && sandbox_prepare(last, &s, err) < 0)
		return (int)err->code;
	s.stopper = stopper_start(&stopper, err);
	if (!s.stopper)
		return (int)err->code;
	sink_init(&s.sink);
	if (open_all(&s, err) == 0)
		run_all(&s, err);
	kept_from = s.running ? 0 : stopper_signal(s.stopper);
	stopper_closing(s.stopper);
	close_all(&s, err);
	stopper_finish(s.stopper);
	sandbox_finish();
	if (kept_from)
		return gave_up(kept_from, err);
	code = (int)err->code;
	if (s.said)
		*err = (struct err){0};
	return code;
}
