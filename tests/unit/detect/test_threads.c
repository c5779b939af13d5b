/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The detector under a small machine that really runs: each thread is a CPU, executing reads and writes of shared memory, some
 * under a lock. The CPU stops at INT3s, trips watches and is held as hardware and backend would have it. One thread is a
 * device, which accesses the same memory, also under the lock where there is one, and has its ring in it. What is reported must
 * be a race, what is locked and what is a ring must never be; and afterwards the text must be what it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "hv/detect/core/hook.h"
#include "hv/vmm/dma.h"
#include "tests/unit/detect/detect_rig.h"

#define CPUS 3
#define SITES 24u /* sites with even numbers read, those with odd ones write */
#define SITE_LEN 3u
#define LOCKED_FROM 12u /* sites from here on access memory under its lock */
#define RING_SITE 10u	/* the datum of this site, and of the next one, is the device's ring */
#define MODULE 0x1000u
#define HOOK 0x2000u /* offset of an instruction that is a hook site at times */
#define DATUM 64u    /* bytes from one datum to the next */
#define WINDOWS 3000u
#define RACES 30u
#define DEVICE_RACES 10u
#define RINGS_SEEN 10u /* accesses of the device to its ring that met a window */
#define PATIENCE_NS 120000000000u

struct machine {
	struct rig *r;
	struct dma dma; /* how the device gets into memory */
	struct ram ram;
	struct device_observer observer;
	struct target_ops ops; /* the fake target's, but for devices */
	struct symtab *module;
	pthread_mutex_t locks[SITES];
	atomic_bool power_off, toggling_ends;
	atomic_bool telling[CPUS]; /* the CPU has accessed memory, and has not said yet which watches it tripped */
	atomic_uint mistakes, races, watched, hooks, by_device;
	char mistake[1024]; /* the first mistake, written once */
};

static void mistake(struct machine *m, const char *what)
{
	if (atomic_fetch_add(&m->mistakes, 1) == 0)
		snprintf(m->mistake, sizeof(m->mistake), "%s", what);
}

/* Two sites, one reading and one writing, share a datum. A third of the sites is in the module. */
static uint64_t code_offset(unsigned site)
{
	return (site % 3 == 2 ? MODULE : 0) + site * SITE_LEN;
}

static bool is_write(unsigned site)
{
	return site & 1;
}

static bool is_locked(unsigned site)
{
	return site >= LOCKED_FROM;
}

static uint64_t datum_of(unsigned site)
{
	return site / 2 * DATUM;
}

/* ---- a CPU ---- */

static unsigned releases(struct fake_target *ft, unsigned cpu)
{
	unsigned n;

	pthread_mutex_lock(&ft->lock);
	n = ft->releases[cpu];
	pthread_mutex_unlock(&ft->lock);
	return n;
}

static void held(struct machine *m, unsigned cpu, struct x86_regs *regs, struct target_action action, unsigned released)
{
	const struct timespec moment = {.tv_nsec = 20000};

	while (action.kind == TARGET_HOLD) {
		uint64_t until = monotonic_ns() + action.hold_ns;

		while (monotonic_ns() < until && releases(m->r->ft, cpu) == released)
			nanosleep(&moment, NULL);
		released = releases(m->r->ft, cpu);
		action = rig_hold_end(m->r, cpu, regs);
	}
}

/* Make the access, and report which of the watches loaded at that moment it trips. */
static void perform(struct machine *m, unsigned cpu, unsigned site, struct x86_regs *regs)
{
	const struct target_client *client = detect_client(m->r->d);
	struct fake_target *ft = m->r->ft;
	uint64_t gva = RIG_DATA + datum_of(site), value;
	uint32_t cookies[FAKE_SLOTS];
	unsigned n = 0;

	pthread_mutex_lock(&ft->lock);
	atomic_store(&m->telling[cpu], true);
	for (unsigned i = 0; i < FAKE_SLOTS; i++) {
		const struct target_watch *w = &ft->watches[i];

		if (ft->watched[i] && w->owner != cpu && gva < w->gva + w->len && w->gva < gva + 8 &&
		    (is_write(site) || w->read))
			cookies[n++] = w->cookie;
	}
	target_read_phys(&ft->target, RIG_DATA_GPA + datum_of(site), &value, sizeof(value));
	value++;
	if (is_write(site))
		fake_write(ft, RIG_DATA_GPA + datum_of(site), &value, sizeof(value));
	pthread_mutex_unlock(&ft->lock);
	regs->rip += SITE_LEN;
	if (n)
		client->on_watch(client->ctx, cpu, regs, cookies, n);
	atomic_store(&m->telling[cpu], false);
}

static void barrier(void *ctx, unsigned self)
{
	const struct timespec moment = {.tv_nsec = 20000};
	struct machine *m = ctx;

	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		while (cpu != self && atomic_load(&m->telling[cpu]))
			nanosleep(&moment, NULL);
	}
}

static void execute(struct machine *m, unsigned cpu, unsigned site)
{
	struct x86_regs regs = rig_regs(m->r, cpu, code_offset(site));

	regs.gpr[X86_RDI] = RIG_DATA + datum_of(site);
	while (rig_text_byte(m->r, code_offset(site)) == X86_INT3) {
		unsigned released = releases(m->r->ft, cpu);
		struct target_action action = rig_hit(m->r, cpu, &regs);

		if (action.kind == TARGET_NOT_MINE)
			mistake(m, "an INT3 of ours was taken for the guest's");
		if (action.kind == TARGET_RESUME_REGS) { /* the access was carried out */
			if (regs.rip != RIG_TEXT + code_offset(site) + SITE_LEN)
				mistake(m, "an access was carried out at the wrong place");
			return;
		}
		held(m, cpu, &regs, action, released);
	}
	perform(m, cpu, site, &regs);
}

/* Execute the push at HOOK, on which a hook may stand at any moment, or not. */
static void execute_hook(struct machine *m, unsigned cpu)
{
	while (rig_text_byte(m->r, HOOK) == X86_INT3) {
		struct x86_regs regs = rig_regs(m->r, cpu, HOOK);
		struct target_action action = rig_hit(m->r, cpu, &regs);

		if (action.kind == TARGET_RESUME)
			continue; /* the point was taken out: look again */
		if (action.kind != TARGET_RESUME_REGS || regs.rip != RIG_TEXT + HOOK + 1)
			mistake(m, "a hook was not emulated");
		atomic_fetch_add(&m->hooks, 1);
		return;
	}
}

/* Plant the hook and take it out, over and over, beside the sampler and the CPUs. */
static void *toggle_hook(void *arg)
{
	const struct timespec moment = {.tv_nsec = 200000};
	struct machine *m = arg;
	struct guest_hook_site site = {.kind = GUEST_HOOK_DEBUG_REGS};

	site.insn = (struct insn){.addr = RIG_TEXT + HOOK, .len = 1, .bytes = {0x55}};
	while (!atomic_load(&m->toggling_ends)) {
		if (hook_add(m->r->d, &site))
			mistake(m, "a hook was not planted");
		nanosleep(&moment, NULL);
		if (hook_remove(m->r->d, site.insn.addr))
			mistake(m, "a hook was not there");
	}
	return NULL;
}

struct cpu_thread {
	struct machine *m;
	unsigned cpu;
	pthread_t thread;
};

static void *cpu_main(void *arg)
{
	struct cpu_thread *t = arg;
	struct rng rng = {.state = t->cpu};

	while (!atomic_load(&t->m->power_off)) {
		unsigned site = (unsigned)rng_below(&rng, SITES);
		pthread_mutex_t *lock = &t->m->locks[site / 2];

		if (is_locked(site))
			pthread_mutex_lock(lock);
		execute(t->m, t->cpu, site);
		execute_hook(t->m, t->cpu);
		if (is_locked(site))
			pthread_mutex_unlock(lock);
	}
	return NULL;
}

/* ---- the device ---- */

static struct machine *the_machine;

static void devices_watch(struct target *t, uint64_t filter)
{
	(void)t;
	dma_watch(&the_machine->dma, filter);
}

static void devices_in_flight(struct target *t, const struct device_observer *observer)
{
	(void)t;
	dma_in_flight(&the_machine->dma, observer);
}

static bool devices_busy(struct target *t)
{
	(void)t;
	return dma_busy(&the_machine->dma);
}

static void plug_device(struct machine *m)
{
	const struct target_client *client = detect_client(m->r->d);

	the_machine = m;
	m->ram = (struct ram){.host = m->r->ft->ram, .low = FAKE_RAM};
	dma_init(&m->dma, &m->ram);
	m->observer = (struct device_observer){.segment = client->on_device, .ring = client->on_ring, .ctx = client->ctx};
	dma_observe(&m->dma, &m->observer);
	m->ops = *m->r->ft->target.ops;
	m->ops.devices_watch = devices_watch;
	m->ops.devices_in_flight = devices_in_flight;
	m->ops.devices_busy = devices_busy;
	m->r->ft->target.ops = &m->ops;
}

/* One request: the device writes to or reads from the datum of a site. */
static void request(struct machine *m, unsigned site, bool write)
{
	uint64_t gpa = RIG_DATA_GPA + datum_of(site), value;
	const struct device_segment segment = {.gpa = gpa, .len = 8, .write = write};
	struct dma_flight flight = {.segments = &segment, .count = 1};

	dma_begin(&m->dma, &flight);
	target_read_phys(&m->r->ft->target, gpa, &value, sizeof(value));
	value += 1000;
	if (write)
		fake_write(m->r->ft, gpa, &value, sizeof(value));
	dma_end(&m->dma, &flight);
}

static void *device_main(void *arg)
{
	const struct timespec moment = {.tv_nsec = 20000};
	struct machine *m = arg;
	struct rng rng = {.state = 99};
	struct dma_ring ring;

	dma_ring_add(&m->dma, &ring, &(struct device_request){.type = "virtio-blk"});
	for (uint64_t i = 0; !atomic_load(&m->power_off); i++) {
		unsigned site = (unsigned)rng_below(&rng, SITES);
		bool write = rng_below(&rng, 2);

		if (site / 2 != RING_SITE / 2) {
			if (is_locked(site))
				pthread_mutex_lock(&m->locks[site / 2]);
			request(m, site, write);
			if (is_locked(site))
				pthread_mutex_unlock(&m->locks[site / 2]);
		}
		if (dma_ring_store32(&ring, RIG_DATA_GPA + datum_of(RING_SITE) + 4, (uint32_t)i))
			mistake(m, "the device could not write to its ring");
		nanosleep(&moment, NULL);
	}
	dma_ring_remove(&ring);
	return NULL;
}

/* ---- what is reported ---- */

static int site_at(uint64_t pc)
{
	for (unsigned i = 0; i < SITES; i++) {
		if (pc == RIG_TEXT + code_offset(i))
			return (int)i;
	}
	return -1;
}

static void check_device_race(struct machine *m, const struct observation *o)
{
	const struct race_side *cpu = &o->sides[0], *device = &o->sides[1];
	int site = site_at(cpu->pc);

	if (site < 0 || is_locked((unsigned)site) || (unsigned)site / 2 == RING_SITE / 2)
		mistake(m, "a race of a device with memory that is locked, or is its ring, or at no site");
	else if (device->kind != RACE_SIDE_DEVICE || device->device.gpa != RIG_DATA_GPA + datum_of((unsigned)site))
		mistake(m, "the device's side is not of this datum");
	else if (!is_write((unsigned)site) && !device->device.write)
		mistake(m, "a CPU and a device that both read");
}

static void check_race(struct machine *m, const struct observation *o)
{
	int a = site_at(o->sides[0].pc), b = site_at(o->sides[1].pc);

	if (a < 0 || is_locked((unsigned)a))
		mistake(m, "a race with memory that is locked, or at no site");
	else if (o->how == RACE_BY_REREAD)
		mistake(m, "memory changed, and the one who did it was not waited for");
	else if (b < 0 || datum_of((unsigned)a) != datum_of((unsigned)b))
		mistake(m, "the other side is none of this datum's sites");
	else if (!is_write((unsigned)a) && !is_write((unsigned)b))
		mistake(m, "two reads");
	else if (o->sides[0].cpu == o->sides[1].cpu || o->sides[0].gva != o->sides[1].gva)
		mistake(m, "a CPU against itself, or other addresses");
}

static void on_race(void *ctx, const struct observation *o)
{
	struct machine *m = ctx;

	if (o->how == RACE_BY_DEVICE)
		check_device_race(m, o);
	else
		check_race(m, o);
	atomic_fetch_add(&m->races, o->how != RACE_BY_DEVICE);
	atomic_fetch_add(&m->by_device, o->how == RACE_BY_DEVICE);
	atomic_fetch_add(&m->watched, o->how == RACE_BY_WATCH);
}

static void on_failed(void *ctx, const struct err *err)
{
	mistake(ctx, err->text);
}

/* ---- */

static void build_text(struct machine *m)
{
	const uint64_t size = SITES * SITE_LEN;
	const struct symbol kernel[] = {
		{.name = "_stext", .addr = RIG_TEXT, .size = size, .type = 'T'},
		{.name = "kernel_fn", .addr = RIG_TEXT, .size = size, .type = 't'},
		{.name = "_etext", .addr = RIG_TEXT + size, .type = 'T'},
		/* This one is for names only: the kernel's text ends before. */
		{.name = "module_fn", .addr = RIG_TEXT + MODULE, .size = size, .type = 't'},
	};
	const struct symbol module = {.name = "module_fn", .addr = RIG_TEXT + MODULE, .size = size, .type = 't'};

	for (uint64_t at = 0; at < size; at++) {
		rig_code(m->r, at, "\x90", 1);
		rig_code(m->r, MODULE + at, "\x90", 1);
	}
	for (unsigned i = 0; i < SITES; i++)
		rig_code(m->r, code_offset(i), is_write(i) ? "\x48\x89\x07" : "\x48\x8b\x07", SITE_LEN);
	rig_code(m->r, HOOK, "\x55", 1);
	rig_functions(m->r, kernel, sizeof(kernel) / sizeof(*kernel));
	m->module = symtab_from_array(&module, 1, NULL);
	assert_non_null(m->module);
	m->r->guest.module = (struct guest_module){.name = "module", .base = module.addr, .size = size, .symbols = m->module};
}

static int setup(void **state)
{
	struct machine *m = calloc(1, sizeof(*m));

	*state = m;
	if (!m)
		return -1;
	m->r = rig_new(CPUS, 4);
	if (!m->r)
		return -1;
	for (unsigned i = 0; i < SITES; i++)
		pthread_mutex_init(&m->locks[i], NULL);
	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		atomic_store(&m->r->ft->busy[cpu], true);
	m->r->ft->on_barrier = barrier;
	m->r->ft->hook_ctx = m;
	build_text(m);
	m->r->guest.ready = 1;
	m->r->config = (struct detect_config){.seed = 3, .rate = 20000, .delay_ns = 300000};
	m->r->sink = (struct detect_sink){.race = on_race, .failed = on_failed, .ctx = m};
	rig_remake(m->r);
	plug_device(m);
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	dma_observe(&m->dma, NULL);
	dma_destroy(&m->dma);
	rig_free(m->r);
	symtab_free(m->module);
	for (unsigned i = 0; i < SITES; i++)
		pthread_mutex_destroy(&m->locks[i]);
	free(m);
	return 0;
}

/* Let it run, with the module coming and going, until there is enough to judge by. Returns false if that takes too long. */
static bool run_for_a_while(struct machine *m)
{
	uint64_t until = monotonic_ns() + PATIENCE_NS;
	struct detect_stats stats = {0};

	while (stats.windows < WINDOWS || atomic_load(&m->races) < RACES || !atomic_load(&m->watched) ||
	       !atomic_load(&m->hooks) || atomic_load(&m->by_device) < DEVICE_RACES || stats.ring_accesses < RINGS_SEEN) {
		const struct timespec moment = {.tv_nsec = 30000000};

		if (monotonic_ns() > until || atomic_load(&m->mistakes))
			return false;
		atomic_store(&m->r->guest.module_here, !atomic_load(&m->r->guest.module_here));
		nanosleep(&moment, NULL);
		detect_stats(m->r->d, &stats);
	}
	return true;
}

static void test_machine(void **state)
{
	struct machine *m = *state;
	struct cpu_thread cpus[CPUS];
	uint8_t *text = malloc(RIG_TEXT_SIZE);
	pthread_t toggler, device;
	bool enough;

	assert_non_null(text);
	memcpy(text, m->r->ft->ram + RIG_TEXT_GPA, RIG_TEXT_SIZE);
	assert_int_equal(detect_start(m->r->d, NULL), 0);
	for (unsigned i = 0; i < CPUS; i++) {
		cpus[i] = (struct cpu_thread){.m = m, .cpu = i};
		assert_int_equal(pthread_create(&cpus[i].thread, NULL, cpu_main, &cpus[i]), 0);
	}
	assert_int_equal(pthread_create(&toggler, NULL, toggle_hook, m), 0);
	assert_int_equal(pthread_create(&device, NULL, device_main, m), 0);
	enough = run_for_a_while(m);
	atomic_store(&m->toggling_ends, true);
	pthread_join(toggler, NULL);

	/* The machine runs on meanwhile, as a machine that was only attached to does. */
	detect_stop(m->r->d);
	atomic_store(&m->power_off, true);
	for (unsigned i = 0; i < CPUS; i++)
		pthread_join(cpus[i].thread, NULL);
	pthread_join(device, NULL);

	if (atomic_load(&m->mistakes))
		fail_msg("%s (%u mistakes, %u races)", m->mistake, atomic_load(&m->mistakes), atomic_load(&m->races));
	assert_true(enough);
	assert_memory_equal(m->r->ft->ram + RIG_TEXT_GPA, text, RIG_TEXT_SIZE);
	assert_int_equal(fake_watch_count(m->r->ft), 0);
	assert_int_equal(m->r->ft->misuses, 0);
	assert_int_equal(rig_open_windows(m->r), 0);
	assert_int_equal(rig_slots_in_use(m->r), 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_machine, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
