// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Windows that begin at a device: a request is held before its device accesses the request's memory, so that a CPU's access to
 * this memory is seen.
 */
#include "hv/detect/window/device_window.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hv/base/clock.h"
#include "hv/detect/core/capture.h"
#include "hv/detect/locks/locks.h"
#include "hv/detect/window/awake.h"
#include "hv/detect/window/device_words.h"
#include "hv/detect/window/window.h"

#define NS_PER_S UINT64_C(1000000000)
#define DEVICE_SEED 0x6a09e667f3bcc909ull /* for rng: any constant that the detector's other sequences do not use */
/* A quarter into the window the memory is compared for the first time, and the window ends if no CPU runs. */
#define FIRST_LOOK 4
/* Hold a random one of the next CHOICE requests. The very next request would too often be the first one after a pause. */
#define CHOICE 4u
/* With config.overhead, windows at devices may cost at most a quarter of the CPU time that sampling may cost. */
#define OVERHEAD_PART 4.0
/* Number of tries to take d->lock for a window: other threads hold the lock for some microseconds at a time. */
#define LOCK_TRIES 100u
#define WAIT_NS 100000000u /* 100 ms: device_window_wait() */
/* Memory is compared in pieces of this many bytes. */
#define PIECE 4096u

int device_window_init(struct detect *d)
{
	struct device_window *w = &d->hit.device_window;

	if (!d->config.device_rate || !d->target->caps.devices || d->config.known_races)
		return 0;
	w->rng.state = d->config.seed ^ DEVICE_SEED;
	w->copy = malloc(DEVICE_COPY_MAX);
	return w->copy ? 0 : -1;
}

void device_window_fini(struct detect *d)
{
	free(d->hit.device_window.copy);
	d->hit.device_window.copy = NULL;
}

static bool may_open(const struct detect *d)
{
	const struct device_window *w = &d->hit.device_window;

	return !d->life.closing && !w->busy && !w->refused && window_affordable(d);
}

/*
 * Returns the time from one window to the next, in ns. This time bounds the cost of windows at devices. Without the bound they
 * could use up a small config.overhead, and leave no CPU time for other windows: 20 windows of 10 ms in a second cost a tenth
 * of the time of two CPUs.
 */
static uint64_t period_ns(const struct detect *d)
{
	uint64_t period = NS_PER_S / d->config.device_rate;
	double share = d->config.overhead * d->target->caps.cpus / OVERHEAD_PART;

	if (share > 0 && (double)d->config.delay_ns / share > (double)period)
		period = (uint64_t)((double)d->config.delay_ns / share);
	return period;
}

void device_window_step(struct detect *d, uint64_t now)
{
	struct device_window *w = &d->hit.device_window;

	/* Open no window before the first sample point was armed: the times of a run count from then on. */
	if (!w->copy || !atomic_load(&d->life.started_ns))
		return;
	pthread_mutex_lock(&d->lock);
	if (may_open(d) && now >= w->next_ns) {
		w->next_ns = now + period_ns(d);
		target_devices_want(d->target, 1 + (unsigned)rng_below(&w->rng, CHOICE));
	}
	pthread_mutex_unlock(&d->lock);
}

/* ---- the copy ---- */

/* Copy the request's memory, up to DEVICE_COPY_MAX bytes. Called on the device's thread, without d->lock. */
static void copy_memory(struct detect *d, struct device_window *w)
{
	w->copied = 0;
	for (unsigned i = 0; i < w->segment_count; i++) {
		uint32_t left = DEVICE_COPY_MAX - w->copied, len = w->segments[i].len < left ? w->segments[i].len : left;

		if (target_read_phys(d->target, w->segments[i].gpa, w->copy + w->copied, len))
			return; /* cannot happen: the device has checked that its segments are RAM */
		w->copied += len;
	}
}

/* Find the first byte in which a piece of a segment differs from its copy. Returns its index, or `len`. */
static uint32_t first_difference(struct detect *d, uint64_t gpa, const uint8_t *copy, uint32_t len)
{
	uint8_t now[PIECE];
	uint32_t i = 0;

	if (target_read_phys(d->target, gpa, now, len) || memcmp(now, copy, len) == 0)
		return len;
	while (i < len && now[i] == copy[i])
		i++;
	return i;
}

/*
 * Find a word that has changed since copy_memory(), and store it in *word. Returns whether there is one. Called on the device's
 * thread, without d->lock.
 */
static bool find_change(struct detect *d, const struct device_window *w, struct device_word *word)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < w->segment_count && at < w->copied; i++) {
		const struct device_segment *s = &w->segments[i];

		for (uint32_t done = 0, len; done < s->len && at < w->copied; done += len, at += len) {
			uint32_t different;

			len = s->len - done < PIECE ? s->len - done : PIECE;
			len = len < w->copied - at ? len : w->copied - at;
			different = first_difference(d, s->gpa + done, w->copy + at, len);
			if (different == len)
				continue;
			*word = device_word_at(w->segments, i, done + different);
			return true;
		}
	}
	return false;
}

/* ---- the watches ---- */

/* Number of watch slots that the window may use: one slot stays free for windows that begin at a CPU. */
static unsigned most_watches(const struct detect *d)
{
	unsigned most = d->target->caps.watches ? d->target->caps.watches - 1 : 0;

	return most < DEVICE_WORDS_MAX ? most : DEVICE_WORDS_MAX;
}

/*
 * Watch the word at the GVA that it has in the kernel's own mapping (guest_mapped_at()). If this GVA is unknown, or if no slot
 * is free, the word is not watched.
 */
static void watch_word(struct detect *d, struct device_window *w, const struct device_word *word)
{
	struct device_watch *watch = &w->watches[w->watch_count];
	unsigned slot = window_free_slot(d);
	uint64_t gva = guest_mapped_at(d->guest, word->gpa);

	if (!gva || slot == d->target->caps.watches)
		return;
	*watch = (struct device_watch){.word = *word, .gva = gva, .slot = slot, .cookie = ++d->hit.last_cookie};
	target_read_phys(d->target, word->gpa, watch->before, word->len);
	target_watch_set(d->target, slot,
			 &(struct target_watch){.gva = gva,
						.len = (uint8_t)word->len,
						.read = w->segments[word->segment].write,
						.owner = TARGET_MAX_CPUS,
						.cookie = watch->cookie});
	d->hit.slots_used |= 1u << slot;
	w->watch_count++;
}

static void clear_watches(struct detect *d, struct device_window *w)
{
	for (unsigned i = 0; i < w->watch_count; i++) {
		target_watch_clear(d->target, w->watches[i].slot);
		d->hit.slots_used &= ~(1u << w->watches[i].slot);
	}
	w->watch_count = 0;
}

/* Bring the watches into force, and copy the memory. Called on the device's thread, without d->lock. */
static void settle(struct detect *d, struct device_window *w)
{
	target_watch_sync(d->target, d->target->caps.cpus);
	copy_memory(d, w);
	pthread_mutex_lock(&d->lock);
	if (w->open && !w->settled) {
		w->settled = true;
		w->until_ns = monotonic_ns() + w->hold_ns;
		if (w->watch_count)
			w->watched_ns = monotonic_ns();
	}
	pthread_mutex_unlock(&d->lock);
}

/* ---- the window ---- */

static bool has_memory(const struct device_segment *segments, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (segments[i].len)
			return true;
	}
	return false;
}

/*
 * Take d->lock, but do not wait long: the thread that holds d->lock may itself wait for this thread, in order to copy the
 * machine. Returns whether d->lock was taken.
 */
static bool lock_soon(struct detect *d)
{
	for (unsigned i = 0; i < LOCK_TRIES; i++) {
		if (pthread_mutex_trylock(&d->lock) == 0)
			return true;
		sched_yield();
	}
	return false;
}

uint64_t device_window_request(struct detect *d, const struct device_request *by, const struct device_segment *segments,
			       unsigned count)
{
	struct device_window *w = &d->hit.device_window;
	struct device_word words[DEVICE_WORDS_MAX];
	bool open;

	if (!lock_soon(d))
		return 0;
	open = w->copy && may_open(d) && has_memory(segments, count);
	if (open) {
		unsigned n;

		w->open = w->busy = true;
		w->opened_ns = monotonic_ns();
		w->hold_ns = d->config.delay_ns;
		w->until_ns = w->opened_ns + w->hold_ns;
		w->watched_ns = 0;
		w->settled = false;
		w->request = *by;
		w->segments = segments;
		w->segment_count = count;
		n = device_words_choose(w, most_watches(d), words);
		for (unsigned i = 0; i < n; i++)
			watch_word(d, w, &words[i]);
		d->hit.credit_ns -= (double)w->hold_ns;
		d->stats.device_windows++;
	}
	pthread_mutex_unlock(&d->lock);
	if (!open)
		return 0;
	settle(d, w);
	/* A CPU may have hit a watch already, which closes the window: then hold nothing. */
	pthread_mutex_lock(&d->lock);
	open = w->busy = w->open;
	pthread_mutex_unlock(&d->lock);
	return open ? w->hold_ns / FIRST_LOOK + 1 : 0;
}

static void close_window(struct detect *d, struct device_window *w)
{
	clear_watches(d, w);
	device_words_done(w);
	d->stats.device_held_ns += monotonic_ns() - w->opened_ns;
	w->open = false;
}

void device_window_end(struct detect *d)
{
	if (!d->hit.device_window.open)
		return;
	close_window(d, &d->hit.device_window);
	target_devices_let_go(d->target);
}

void device_window_cpu_accesses(struct detect *d, const struct datum *data, unsigned n)
{
	struct device_window *w = &d->hit.device_window;

	for (unsigned i = 0; w->copy && i < n; i++)
		device_words_seen(w, data[i].extents[0].gpa);
}

void device_window_refuse(struct detect *d, bool on)
{
	struct device_window *w = &d->hit.device_window;

	w->refused = on;
	if (!w->copy || !on)
		return;
	target_devices_want(d->target, 0);
	device_window_end(d);
}

void device_window_wait(struct detect *d)
{
	const struct timespec pause = {.tv_nsec = 100000};
	uint64_t until = monotonic_ns() + WAIT_NS;
	bool busy = true;

	while (busy && monotonic_ns() < until) {
		pthread_mutex_lock(&d->lock);
		busy = d->hit.device_window.busy;
		if (busy)
			target_devices_let_go(d->target);
		pthread_mutex_unlock(&d->lock);
		if (busy)
			nanosleep(&pause, NULL);
	}
}

/*
 * The memory has changed at `word`, and every CPU has reported its stops: remember the word, and watch it now. If a watch of
 * this window covers the word already, the writer used another mapping than the kernel's own. A new watch would not catch this
 * writer either, so the watches stay as they are.
 */
static void unseen_change(struct detect *d, struct device_window *w, const struct device_word *word)
{
	d->stats.device_unseen++;
	device_words_touched(w, word);
	for (unsigned i = 0; i < w->watch_count; i++) {
		if (w->watches[i].word.gpa == word->gpa)
			return;
	}
	clear_watches(d, w);
	watch_word(d, w, word);
}

uint64_t device_window_hold_end(struct detect *d, bool last)
{
	struct device_window *w = &d->hit.device_window;
	uint64_t left = 0, now;
	struct device_word word;
	bool changed, open;

	/*
	 * No other thread opens a window while w->busy is set. So an open window is that of this request, and the segments are
	 * valid.
	 */
	pthread_mutex_lock(&d->lock);
	open = w->open;
	pthread_mutex_unlock(&d->lock);
	changed = open && find_change(d, w, &word);
	/*
	 * A CPU that changed the memory may not have reported its watchpoint hit yet. Wait for the report, which closes the
	 * window.
	 */
	if (changed && !last)
		target_barrier(d->target, d->target->caps.cpus);

	pthread_mutex_lock(&d->lock);
	now = monotonic_ns();
	if (w->open && changed)
		unseen_change(d, w, &word);
	if (w->open && !last && now < w->until_ns && !d->life.closing && (changed || awake_any(d)))
		left = w->until_ns - now;
	else if (w->open)
		close_window(d, w);
	w->busy = left;
	pthread_mutex_unlock(&d->lock);
	if (left && changed)
		settle(d, w);
	return left;
}

/* ---- a conflict ---- */

/* Fill in the device's side. */
static void fill_device(const struct device_window *w, const struct device_word *word, struct race_side *side)
{
	const struct device_segment *s = &w->segments[word->segment];

	side->kind = RACE_SIDE_DEVICE;
	side->rw = s->write ? INSN_WRITE : INSN_READ;
	side->device = (struct device_access){
		.request = w->request, .gpa = word->gpa, .len = word->len, .write = s->write, .descriptor = s->descriptor};
}

static void report(struct detect *d, const struct device_window *w, const struct device_watch *watch, unsigned cpu,
		   const struct x86_regs *regs)
{
	struct observation *o = queue_take(&d->hit.observations);
	uint64_t now = monotonic_ns();
	struct guest_context context;
	struct race_side *side;

	d->stats.conflicts++;
	d->stats.device_conflicts++;
	d->stats.lost += !o;
	if (!o)
		return;
	o->how = RACE_BY_DEVICE_WINDOW;
	o->time_ns = now - d->life.started_ns;
	o->held_ns = now - w->opened_ns;
	o->rendezvous = 0;
	o->window = (struct race_window){.known = true, .hold_ns = w->hold_ns};
	if (w->watched_ns)
		o->window.watched_ns = w->watched_ns - w->opened_ns;
	o->gpa = watch->word.gpa;
	o->data_len = watch->word.len;
	memset(o->before, 0, sizeof(o->before));
	memset(o->after, 0, sizeof(o->after));
	memcpy(o->before, watch->before, watch->word.len);
	target_read_phys(d->target, o->gpa, o->after, o->data_len);
	guest_page_state(d->guest, o->gpa, &o->page);
	guest_context(d->guest, regs, &context);
	side = &o->sides[0];
	capture_side(d->target, d->guest, cpu, regs, &context, side);
	if (d->locks)
		side->locks.known = locks_held(d->locks, cpu, &side->context, &side->locks.set);
	/* The reporter finds the instruction, and which bytes of the word it accessed. */
	side->gva = watch->gva;
	side->size = watch->word.len;
	fill_device(w, &watch->word, &o->sides[1]);
	queue_put(&d->hit.observations, o);
	pthread_cond_signal(&d->hit.queued);
}

bool device_window_watch_hit(struct detect *d, unsigned cpu, const struct x86_regs *regs, uint32_t cookie)
{
	struct device_window *w = &d->hit.device_window;

	for (unsigned i = 0; w->open && i < w->watch_count; i++) {
		if (w->watches[i].cookie != cookie)
			continue;
		device_words_touched(w, &w->watches[i].word);
		report(d, w, &w->watches[i], cpu, regs);
		device_window_end(d);
		return true;
	}
	return false;
}
