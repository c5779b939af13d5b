// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs races in both orders (replayer.h). A rendezvous gets a job: a copy of the machine, in a process of its own, which forks
 * a child for each order. A held job's copy waits until the guest's kernel complains.
 */
#include "hv/session/replayer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/race/site.h"
#include "hv/replay/replay.h"
#include "hv/sandbox/sandbox.h"
#include "hv/session/held.h"
#include "hv/session/replay_names.h"
#include "hv/session/scenario_folder.h"
#include "hv/session/section_pace.h"

/*
 * Maximum number of copies that are run at the same time. While a copy runs, it costs as much memory as twice the pages that
 * the guest and the copy write in this time.
 */
#define AT_ONCE 2u
/* Maximum number of copies at a time: those that are run, those that are held, and one that is being dropped. */
#define COPIES (AT_ONCE + HELD_MAX + 1)
_Static_assert(COPIES == SCENARIO_FILES, "each copy needs a file for its scenario");
/* Number of pairs of instructions in the table, a power of two. No run has found more races than that. */
#define PAIRS 4096u
/*
 * Maximum number of instances of a pair that are replayed. The pruner needs fewer to call a race benign because both orders end
 * in the same state (docs/pruning.md).
 */
#define INSTANCES_MAX 64u
/*
 * Longest region, in instructions. A region is what one side runs from its access until the states of both orders are compared.
 * Most functions return within some hundred instructions. After 20,000, the state says little about the access.
 */
#define INSTRUCTIONS 20000u

/* Milliseconds after which the ages of held copies are checked again. */
#define LOOK_MS 1000
/* How often replayer_wait() asks whether to go on, in ns. */
#define WAKE_NS UINT64_C(50000000)
/*
 * At the end of a run, wait this long for a complaint that the detector has not read yet, in ns. The detector reads the guest's
 * log every 100 ms.
 */
#define UNREAD_NS UINT64_C(300000000)
/*
 * Limit of the wait for the last moments (copies that existed when the guest's kernel complained), in ns: 5 min, which the
 * slowest emulated host needs for two copies.
 */
#define LAST_NS UINT64_C(300000000000)

/* Two instructions that met in a rendezvous. */
struct pair {
	/* The instructions' GVAs, the smaller one first; gva[0] is 0 in a free entry. */
	uint64_t gva[2];
	/*
	 * Number of rendezvous of this pair that could have been replayed: those that began while fewer than AT_ONCE replays
	 * were under way, and the pair had fewer than INSTANCES_MAX replays.
	 */
	uint32_t offered;
	/* The value of `offered` at which to replay next. */
	uint32_t next;
	uint32_t runs; /* number of replays */
};

/* The outcomes of a race that have a scenario already, a bit (1u << kind) for each enum replay_kept. */
struct kept {
	char race[RACE_ID_MAX]; /* "": a free slot */
	unsigned kinds;
};

struct job {
	bool used;
	/* The copy is held: its process waits, and its replay has not begun. */
	bool held;
	/* The copy existed when the guest's kernel complained. */
	bool last_moment;
	/* The copy is not wanted any longer, and its process is about to end. */
	bool dropping;
	/* When the copy was made. */
	uint64_t made_ns;
	/* The id of the race of this rendezvous's two sites. */
	char race[RACE_ID_MAX];
	/* The outcomes for which a scenario is wanted, bits as in struct kept. 0: none. */
	unsigned wanted;
	struct replay_job replay;
	char site[2][SITE_NAME_MAX];
	struct replay_rendezvous rendezvous;
	/* The critical sections, if this is a rendezvous of sections. In a rendezvous of two accesses, `lock` is 0. */
	struct rendezvous_sections sections;
};

struct replayer {
	struct replayer_config config;
	struct replay_config replay;
	atomic_bool ready;   /* replayer_kernel_known() was called. */
	atomic_bool closing; /* replayer_closing() was called. */
	/* The user has seen the first error about copies. */
	atomic_bool told;
	/* The user has seen that a scenario could not be kept. Used by the replayer's thread. */
	bool told_scenario;
	atomic_uint under_way; /* number of jobs that are not held */
	/* Guards `sections`. While this lock is held, no other lock is taken. */
	pthread_mutex_t sections_lock;
	struct section_pace sections;
	/* The detector's lock guards `pairs`, `pace` and `hold_next`. */
	struct pair pairs[PAIRS];
	struct held_pace pace;
	/*
	 * Whether the copy that is made at the next rendezvous is held. If false, the copy's replay starts at once. This is
	 * decided when the detector asks whether a copy is wanted.
	 */
	bool hold_next;
	pthread_mutex_t lock; /* Guards `jobs`, `kept` and `complained`. */
	/* Signalled when a job has ended, and after a complaint. */
	pthread_cond_t job_over;
	bool complained; /* replayer_complained() was called. */
	struct job jobs[COPIES];
	struct kept kept[PAIRS];
	/* File number i of the folder belongs to jobs[i]. */
	struct scenario_folder folder;
	struct scenario_facts facts; /* the same for all scenarios */
	int wake;		     /* eventfd that wakes the replayer's thread */
	bool stop;
	pthread_t thread;
	bool started;
};

/* Let waits on this condition take times of CLOCK_MONOTONIC, as monotonic_ns() returns them. */
static void init_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

struct replayer *replayer_new(const struct replayer_config *config, struct err *err)
{
	struct replayer *r = calloc(1, sizeof(*r));

	if (!r) {
		err_set(err, EXIT_INTERNAL, "out of memory for replays");
		return NULL;
	}
	r->config = *config;
	r->replay = (struct replay_config){.instructions = INSTRUCTIONS, .free_ns = config->free_ns};
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->sections_lock, NULL);
	init_cond(&r->job_over);
	r->wake = eventfd(0, EFD_CLOEXEC);
	if (r->wake < 0)
		err_set(err, EXIT_INTERNAL, "eventfd failed: %s", strerror(errno));
	else if (!config->save || scenario_folder_open(&r->folder, config->save, err) == 0)
		return r;
	replayer_free(r);
	return NULL;
}

void replayer_free(struct replayer *r)
{
	if (!r)
		return;
	scenario_folder_close(&r->folder);
	if (r->wake >= 0)
		close(r->wake);
	pthread_cond_destroy(&r->job_over);
	pthread_mutex_destroy(&r->lock);
	pthread_mutex_destroy(&r->sections_lock);
	free(r);
}

static void describe_kernel(struct replayer *r)
{
	const struct guest *guest = r->config.guest;
	const uint8_t *id;
	size_t len = guest_build_id(guest, &id);

	scenario_describe_kernel(&r->facts, guest_banner(guest), id, len, guest_slide(guest));
}

void replayer_kernel_known(struct replayer *r)
{
	if (atomic_load(&r->ready))
		return;
	r->replay.sleep = guest_sleep_function(r->config.guest);
	describe_kernel(r);
	r->replay.loglevel_gpa = guest_console_level(r->config.guest);
	atomic_store(&r->ready, true);
}

/* ---- which rendezvous to replay ---- */

/* Returns the pair's slot, which is created if the pair has none, or NULL if all slots are taken. */
static struct pair *find_pair(struct replayer *r, uint64_t low, uint64_t high)
{
	size_t at = (size_t)((low * 31 + high) * UINT64_C(0x9e3779b97f4a7c15) >> 52);

	for (size_t i = 0; i < PAIRS; i++) {
		struct pair *p = &r->pairs[(at + i) % PAIRS];

		if (!p->gva[0])
			*p = (struct pair){.gva = {low, high}, .next = 1};
		if (p->gva[0] == low && p->gva[1] == high)
			return p;
	}
	return NULL;
}

/*
 * Returns whether to replay the pair's rendezvous at once. After its n-th replay, a pair skips n - 1 rendezvous, so that a pair
 * with frequent rendezvous does not keep others from being replayed.
 */
static bool wants_replay(struct replayer *r, uint64_t gva_a, uint64_t gva_b)
{
	struct pair *p;

	if (atomic_load(&r->under_way) >= AT_ONCE)
		return false;
	p = find_pair(r, gva_a < gva_b ? gva_a : gva_b, gva_a < gva_b ? gva_b : gva_a);
	if (!p || p->runs >= INSTANCES_MAX || ++p->offered < p->next)
		return false;
	p->runs++;
	p->next = p->offered + p->runs;
	return true;
}

bool replayer_wants(struct replayer *r, uint64_t gva_a, uint64_t gva_b)
{
	if (!atomic_load(&r->ready) || atomic_load(&r->closing))
		return false;
	r->hold_next = !wants_replay(r, gva_a, gva_b);
	return !r->hold_next || held_due(&r->pace, monotonic_ns());
}

bool replayer_wants_sections(struct replayer *r, uint64_t first, uint64_t second, uint64_t between, bool begin)
{
	bool wants;

	if (!r->config.sections_replayed || !atomic_load(&r->ready) || atomic_load(&r->closing) ||
	    atomic_load(&r->under_way) >= AT_ONCE)
		return false;
	pthread_mutex_lock(&r->sections_lock);
	wants = section_pace_wants(&r->sections, first, second, between, begin);
	pthread_mutex_unlock(&r->sections_lock);
	if (wants && begin)
		r->hold_next = false;
	return wants;
}

/* ---- a replay ---- */

static void name_sites(struct replayer *r, const struct rendezvous *m, struct job *job)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct race_side side = {.kind = RACE_SIDE_CPU,
					       .pc = m->sides[i].regs.rip,
					       .regs = m->sides[i].regs,
					       .symbol = m->sides[i].symbol};

		site_name(&side, guest_slide(r->config.guest), job->site[i]);
	}
	race_id(job->site[0], job->site[1], job->race);
}

/* Returns the race's slot, which is created if the race has none, or NULL if all slots are taken. */
static struct kept *find_kept(struct replayer *r, const char *race)
{
	for (size_t i = 0; i < PAIRS; i++) {
		struct kept *k = &r->kept[i];

		if (!k->race[0])
			snprintf(k->race, sizeof(k->race), "%s", race);
		if (strcmp(k->race, race) == 0)
			return k;
	}
	return NULL;
}

/*
 * Store in job->wanted and in *keep the outcomes for which a scenario is to be kept: those for which the race has no scenario
 * yet. Returns false if there are none.
 */
static bool wants_scenario(struct replayer *r, struct job *job, struct replay_keep *keep)
{
	const struct kept *kept;

	job->wanted = 0;
	keep->fd = r->folder.path ? scenario_folder_fd(&r->folder, (unsigned)(job - r->jobs)) : -1;
	kept = keep->fd >= 0 ? find_kept(r, job->race) : NULL;
	if (!kept)
		return false;
	job->wanted = keep->wanted = ((1u << REPLAY_KEPT_NOTHING) - 1) & ~kept->kinds;
	keep->facts = r->facts;
	scenario_date(&keep->facts);
	memcpy(keep->facts.race, job->race, sizeof(keep->facts.race));
	memcpy(keep->facts.site, job->site, sizeof(keep->facts.site));
	return job->wanted;
}

/* Returns the parameters of this replay. */
static struct replay_config config_of(const struct replayer *r, const struct rendezvous *m)
{
	struct replay_config config = r->replay;

	for (unsigned i = 0; i < 2; i++) {
		const struct guest_symbol *function = &m->sides[i].symbol;

		/*
		 * It may be unknown whether a function returns a value. In a race of two accesses, compare the result register
		 * of such a function. In critical sections, do not compare it: if the register is not used, a difference in it
		 * would confirm the suspicion without reason.
		 */
		config.result_unused[i] = m->sections.lock ? !guest_returns_value(r->config.guest, function)
							   : guest_returns_nothing(r->config.guest, function);
	}
	return config;
}

static struct job *free_job(struct replayer *r)
{
	for (unsigned i = 0; i < COPIES; i++)
		if (!r->jobs[i].used)
			return &r->jobs[i];
	return NULL;
}

static void look_again(struct replayer *r)
{
	const uint64_t one = 1;

	(void)!write(r->wake, &one, sizeof(one));
}

/* Show the first error about copies only. */
static void tell_once(struct replayer *r, const char *text)
{
	if (!atomic_exchange(&r->told, true))
		screen_try_message(r->config.screen, text);
}

/*
 * Make the process of a new copy the OOM killer's first choice (expendable.h), before the copy's process forks, so that its
 * children are the first choice, too. Then start the replay, unless the copy is held. The guest does not stand still meanwhile.
 */
static void let_go(struct replayer *r, struct job *job, bool held)
{
	if (!expendable_mark(r->config.expendable, job->replay.pid))
		tell_once(r, "replay: the host's kernel cannot be told to kill copies first when memory runs out");
	if (!held)
		replay_go(&job->replay);
}

void replayer_rendezvous(struct replayer *r, const struct rendezvous *m)
{
	const struct replay_config config = config_of(r, m);
	struct err err = {0};
	struct replay_keep keep;
	struct job *job;
	unsigned held;
	bool wanted;
	struct vm *vm = r->config.engine->ops->still(r->config.engine, &held);
	uint64_t begin = monotonic_ns();

	pthread_mutex_lock(&r->lock);
	job = free_job(r);
	if (job && !atomic_load(&r->closing)) {
		name_sites(r, m, job);
		replay_rendezvous_take(m, &job->rendezvous);
		job->sections = m->sections;
		wanted = !m->sections.lock && wants_scenario(r, job, &keep);
		job->wanted = wanted ? job->wanted : 0;
		job->last_moment = job->dropping = false;
		job->made_ns = begin;
		job->used = replay_start(vm, held, m, &config, wanted ? &keep : NULL, &job->replay, &err) == 0;
		job->held = job->used && r->hold_next;
		if (!job->used)
			tell_once(r, err.text);
		else if (!job->held)
			atomic_fetch_add(&r->under_way, 1);
	}
	held_made(&r->pace, begin, monotonic_ns());
	pthread_mutex_unlock(&r->lock);
	look_again(r);
}

/* ---- results ---- */

static void end_job(struct replayer *r, struct job *job)
{
	pthread_mutex_lock(&r->lock);
	if (!job->held)
		atomic_fetch_sub(&r->under_way, 1);
	job->used = job->held = false;
	pthread_cond_broadcast(&r->job_over);
	pthread_mutex_unlock(&r->lock);
}

/*
 * Keep the job's scenario if its outcome is one of job->wanted. Show only the first failure: a full disk stays full for later
 * scenarios.
 */
static void take_scenario(struct replayer *r, struct job *job, const struct replay_instance *instance)
{
	enum replay_kept kind = replay_kept(instance);
	struct kept *slot;
	struct err err = {0};
	bool kept;

	if (!job->wanted)
		return;
	if (scenario_folder_take(&r->folder, (unsigned)(job - r->jobs), job->race, kind, &kept, &err) == 0 && !kept &&
	    job->wanted >> kind & 1)
		err_set(&err, EXIT_INPUT, "no scenario of race %s was kept in %.300s: it could not be written; make room there",
			job->race, r->folder.path);
	if (err.code != EXIT_OK && !r->told_scenario)
		screen_try_message(r->config.screen, err.text);
	r->told_scenario |= err.code != EXIT_OK;
	pthread_mutex_lock(&r->lock);
	slot = kept ? find_kept(r, job->race) : NULL;
	if (slot)
		slot->kinds |= 1u << kind;
	pthread_mutex_unlock(&r->lock);
}

static void take_sections_result(struct replayer *r, struct job *job)
{
	const struct rendezvous_sections *s = &job->sections;
	struct section_replay_instance instance;

	replay_finish_sections(&job->replay, &instance);
	replay_names_give_sections(r->config.guest, &job->rendezvous, &instance);
	pthread_mutex_lock(&r->sections_lock);
	section_pace_told(&r->sections, s->first, s->second, s->between, instance.outcome);
	pthread_mutex_unlock(&r->sections_lock);
	/*
	 * When the run is closing, the detector's thread that forked the copy's process ends, and the process dies with it. The
	 * outcome of such a copy is unknown, and is not reported.
	 */
	if (!atomic_load(&r->closing) || instance.outcome != SECTION_OUTCOME_UNKNOWN)
		r->config.sections_replayed(r->config.ctx, s, &instance);
	end_job(r, job);
}

static void take_result(struct replayer *r, struct job *job)
{
	struct replay_instance instance;
	bool held;

	replay_finish(&job->replay, &instance);
	pthread_mutex_lock(&r->lock);
	held = job->held;
	instance.last_moment = job->last_moment;
	pthread_mutex_unlock(&r->lock);
	/*
	 * Nothing drops a held copy here, so the host has killed it, for example because memory ran out. There is no result:
	 * the copy's replay had not begun.
	 */
	if (held) {
		end_job(r, job);
		return;
	}
	take_scenario(r, job, &instance);
	/*
	 * Do not report REPLAY_CANNOT_LOAD while the run is closing. The detector's thread that forked the copy's process then
	 * ends, and the process dies with it: this says nothing about the race.
	 */
	if (!atomic_load(&r->closing) || instance.why != REPLAY_CANNOT_LOAD) {
		replay_names_give(r->config.guest, &job->rendezvous, &instance);
		r->config.replayed(r->config.ctx, job->site[0], job->site[1], &instance);
	}
	end_job(r, job);
}

static void drop_all(struct replayer *r)
{
	for (unsigned i = 0; i < COPIES; i++) {
		if (!r->jobs[i].used)
			continue;
		replay_drop(&r->jobs[i].replay);
		end_job(r, &r->jobs[i]);
	}
}

/*
 * Call let_go() for each new copy: mark its process for the OOM killer, and start its replay unless the copy is held. `marked`
 * has a bit for each held copy whose process is marked already.
 */
static void let_all_go(struct replayer *r, unsigned *marked)
{
	for (unsigned i = 0; i < COPIES; i++) {
		bool waits, held;

		pthread_mutex_lock(&r->lock);
		held = r->jobs[i].held;
		waits = r->jobs[i].used && r->jobs[i].replay.go >= 0 && (!held || !(*marked >> i & 1));
		pthread_mutex_unlock(&r->lock);
		if (waits)
			let_go(r, &r->jobs[i], held);
		*marked = held ? *marked | 1u << i : *marked & ~(1u << i);
	}
}

/* Drop held copies that are not to be held any longer. */
static void drop_surplus(struct replayer *r, unsigned *marked)
{
	for (;;) {
		struct held_copy list[COPIES];
		struct job *job;
		int surplus;

		pthread_mutex_lock(&r->lock);
		for (unsigned i = 0; i < COPIES; i++)
			list[i] = (struct held_copy){r->jobs[i].used && r->jobs[i].held, r->jobs[i].made_ns, r->jobs[i].race};
		surplus = held_surplus(list, COPIES, monotonic_ns());
		/* `dropping` makes replayer_complained() leave this job alone. */
		job = surplus >= 0 ? &r->jobs[surplus] : NULL;
		if (job)
			job->dropping = true;
		pthread_mutex_unlock(&r->lock);
		if (!job)
			return;
		replay_forget(&job->replay);
		*marked &= ~(1u << surplus);
		end_job(r, job);
	}
}

/* Wait for a result or for look_again(). Only this thread ends jobs, so a job's descriptor stays valid meanwhile. */
static void wait_for_results(struct replayer *r, unsigned *marked)
{
	struct pollfd fds[1 + COPIES] = {{.fd = r->wake, .events = POLLIN}};
	bool holds = false;
	uint64_t calls;

	pthread_mutex_lock(&r->lock);
	for (unsigned i = 0; i < COPIES; i++) {
		fds[1 + i] = (struct pollfd){.fd = r->jobs[i].used ? r->jobs[i].replay.fd : -1, .events = POLLIN};
		holds |= r->jobs[i].used && r->jobs[i].held;
	}
	pthread_mutex_unlock(&r->lock);
	if (poll(fds, 1 + COPIES, holds ? LOOK_MS : -1) < 0)
		return;
	if (fds[0].revents)
		(void)!read(r->wake, &calls, sizeof(calls));
	let_all_go(r, marked);
	for (unsigned i = 0; i < COPIES; i++) {
		if (!fds[1 + i].revents)
			continue;
		if (r->jobs[i].sections.lock)
			take_sections_result(r, &r->jobs[i]);
		else
			take_result(r, &r->jobs[i]);
		*marked &= ~(1u << i);
	}
	drop_surplus(r, marked);
}

static void *replayer_main(void *arg)
{
	struct replayer *r = arg;
	unsigned marked = 0; /* a bit for each held job whose process let_go() has marked */
	bool stop = false;

	sandbox_thread(SANDBOX_REPORTER);
	while (!stop) {
		wait_for_results(r, &marked);
		pthread_mutex_lock(&r->lock);
		stop = r->stop;
		pthread_mutex_unlock(&r->lock);
	}
	drop_all(r);
	return NULL;
}

/* ---- last moments: the copies that exist when the guest's kernel complains ---- */

void replayer_complained(struct replayer *r)
{
	unsigned count = 0;
	char line[160];

	/* While the run is closing, the detector's threads end, and the copies with them: there is nothing to run. */
	if (atomic_load(&r->closing))
		return;
	pthread_mutex_lock(&r->lock);
	r->complained = true;
	for (unsigned i = 0; i < COPIES; i++) {
		struct job *job = &r->jobs[i];

		if (!job->used || job->dropping)
			continue;
		job->last_moment = true;
		count++;
		if (job->held)
			atomic_fetch_add(&r->under_way, 1);
		job->held = false;
	}
	pthread_cond_broadcast(&r->job_over);
	pthread_mutex_unlock(&r->lock);
	look_again(r);
	if (!count)
		return;
	snprintf(line, sizeof(line),
		 "the guest's kernel complained: the last %u %s of the machine before that %s run in both orders; Ctrl-C ends "
		 "this",
		 count, count == 1 ? "copy" : "copies", count == 1 ? "is" : "are");
	screen_try_message(r->config.screen, line);
}

/*
 * Returns whether the result of some copy must be waited for. After a complaint of the guest's kernel, these are the copies
 * that existed at the complaint; before any complaint, all copies. Called with the lock held.
 */
static bool awaits(const struct replayer *r)
{
	for (unsigned i = 0; i < COPIES; i++) {
		const struct job *job = &r->jobs[i];

		if (job->used && !job->dropping && (job->last_moment || !r->complained))
			return true;
	}
	return false;
}

void replayer_wait(struct replayer *r, bool (*goes_on)(void *ctx), void *ctx)
{
	uint64_t begin = monotonic_ns();

	if (!r || !r->started)
		return;
	pthread_mutex_lock(&r->lock);
	while (awaits(r) && goes_on(ctx)) {
		uint64_t now = monotonic_ns(), until = now + WAKE_NS;
		const struct timespec t = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};

		if (now - begin > (r->complained ? LAST_NS : UNREAD_NS))
			break;
		pthread_cond_timedwait(&r->job_over, &r->lock, &t);
	}
	pthread_mutex_unlock(&r->lock);
}

int replayer_start(struct replayer *r, struct err *err)
{
	if (pthread_create(&r->thread, NULL, replayer_main, r))
		return err_set(err, EXIT_INTERNAL, "cannot start the thread that waits for replays");
	r->started = true;
	return 0;
}

void replayer_closing(struct replayer *r)
{
	if (r)
		atomic_store(&r->closing, true);
}

void replayer_stop(struct replayer *r)
{
	if (!r || !r->started)
		return;
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_mutex_unlock(&r->lock);
	look_again(r);
	pthread_join(r->thread, NULL);
	r->started = false;
}
