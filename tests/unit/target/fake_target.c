// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/target/fake_target.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PRESENT 1ull
/* The bits with which Linux maps its memory: present, writable, accessed and dirty. */
#define KERNEL_PAGE (PRESENT | 1ull << 1 | 1ull << 5 | 1ull << 6)
#define LARGE (1ull << 7)
#define ENTRY_ADDR 0x000ffffffffff000ull

static struct fake_target *fake(struct target *t)
{
	return (struct fake_target *)t;
}

/* ---- memory ---- */

static int read_phys(struct target *t, uint64_t gpa, void *buf, size_t len)
{
	const struct fake_target *ft = fake(t);
	uint8_t *out = buf;

	if (gpa > FAKE_RAM || len > FAKE_RAM - gpa)
		return -1;
	for (size_t i = 0; i < len; i++)
		out[i] = __atomic_load_n(&ft->ram[gpa + i], __ATOMIC_RELAXED);
	return 0;
}

static int write_phys(struct target *t, uint64_t gpa, const void *buf, size_t len)
{
	struct fake_target *ft = fake(t);
	const uint8_t *in = buf;

	if (gpa > FAKE_RAM || len > FAKE_RAM - gpa)
		return -1;
	for (size_t i = 0; i < len; i++)
		__atomic_store_n(&ft->ram[gpa + i], in[i], __ATOMIC_RELAXED);
	return 0;
}

static int swap_byte(struct target *t, uint64_t gpa, uint8_t expect, uint8_t value)
{
	if (gpa >= FAKE_RAM)
		return -1;
	return __atomic_compare_exchange_n(&fake(t)->ram[gpa], &expect, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ? 0
															  : 1;
}

static int plant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first)
{
	(void)gva;
	return swap_byte(t, gpa, first, X86_INT3);
}

static void unplant(struct target *t, uint64_t gva, uint64_t gpa, uint8_t first, bool intact)
{
	(void)gva;
	if (intact)
		swap_byte(t, gpa, X86_INT3, first);
}

static void refetch(struct target *t, uint64_t gpa, uint8_t byte)
{
	(void)gpa;
	(void)byte;
	fake(t)->refetches++;
}

void fake_write(struct fake_target *ft, uint64_t gpa, const void *buf, size_t len)
{
	int ret = write_phys(&ft->target, gpa, buf, len);

	assert(ret == 0);
	(void)ret;
}

uint8_t fake_byte(const struct fake_target *ft, uint64_t gpa)
{
	return __atomic_load_n(&ft->ram[gpa], __ATOMIC_RELAXED);
}

/* ---- page tables ---- */

uint64_t fake_page(struct fake_target *ft)
{
	uint64_t gpa = ft->tables_end;

	ft->tables_end += X86_PAGE_SIZE;
	assert(ft->tables_end <= FAKE_RAM);
	return gpa;
}

static uint64_t get_entry(struct fake_target *ft, uint64_t at)
{
	uint64_t entry;

	read_phys(&ft->target, at, &entry, sizeof(entry));
	return entry;
}

/*
 * Return the GPA of the entry for `gva` in the table of the level that maps pages of 1 << `shift` bytes. If a table above it is
 * missing, make the table if `make` is set, or else return 0.
 */
static uint64_t entry_at(struct fake_target *ft, uint64_t cr3, unsigned levels, uint64_t gva, unsigned shift, bool make)
{
	uint64_t table = cr3;

	for (unsigned at = 12 + 9 * (levels - 1); at > shift; at -= 9) {
		uint64_t place = table + 8 * (gva >> at & 0x1ff);
		uint64_t entry = get_entry(ft, place);

		if (!(entry & PRESENT)) {
			if (!make)
				return 0;
			entry = fake_page(ft) | KERNEL_PAGE;
			fake_write(ft, place, &entry, sizeof(entry));
		}
		table = entry & ENTRY_ADDR;
	}
	return table + 8 * (gva >> shift & 0x1ff);
}

void fake_map(struct fake_target *ft, uint64_t cr3, unsigned levels, uint64_t gva, uint64_t gpa, uint64_t size, unsigned shift)
{
	for (uint64_t at = 0; at < size; at += 1ull << shift) {
		uint64_t entry = (gpa + at) | KERNEL_PAGE | (shift > 12 ? LARGE : 0);

		fake_write(ft, entry_at(ft, cr3, levels, gva + at, shift, true), &entry, sizeof(entry));
	}
}

void fake_unmap(struct fake_target *ft, uint64_t cr3, unsigned levels, uint64_t gva)
{
	const uint64_t none = 0;
	uint64_t place = entry_at(ft, cr3, levels, gva, 12, false);

	assert(place);
	fake_write(ft, place, &none, sizeof(none));
}

void fake_page_lacks(struct fake_target *ft, uint64_t cr3, unsigned levels, uint64_t gva, uint64_t bit)
{
	uint64_t place = entry_at(ft, cr3, levels, gva, 12, false), entry;

	assert(place);
	entry = (get_entry(ft, place) | KERNEL_PAGE) & ~bit;
	fake_write(ft, place, &entry, sizeof(entry));
}

/* ---- what the target is told ---- */

static void enter(struct target *t)
{
	atomic_fetch_add(&fake(t)->inside, 1);
	atomic_fetch_add(&fake(t)->enters, 1);
}

static void leave(struct target *t)
{
	atomic_fetch_sub(&fake(t)->inside, 1);
}

static int stand_still(struct target *t)
{
	struct fake_target *ft = fake(t);

	if (ft->on_stand)
		ft->on_stand(ft->hook_ctx);
	pthread_mutex_lock(&ft->lock);
	if (atomic_fetch_add(&ft->stands, 1) == 0)
		ft->stand++;
	pthread_mutex_unlock(&ft->lock);
	return 0;
}

/* Return the number of the stand that the machine is in, or 0. The caller holds the lock. */
static unsigned current_stand(struct fake_target *ft)
{
	return atomic_load(&ft->stands) ? ft->stand : 0;
}

static void go_on(struct target *t)
{
	atomic_fetch_sub(&fake(t)->stands, 1);
}

static int intercept(struct target *t, bool on, struct err *err)
{
	struct fake_target *ft = fake(t);

	pthread_mutex_lock(&ft->lock);
	ft->intercepts++;
	ft->intercepting = on && !ft->refuse_intercept;
	if (on)
		ft->intercepted_in = current_stand(ft);
	pthread_mutex_unlock(&ft->lock);
	return ft->refuse_intercept ? err_set(err, EXIT_INTERNAL, "the fake target refuses to intercept") : 0;
}

static void watch_set(struct target *t, unsigned slot, const struct target_watch *watch)
{
	struct fake_target *ft = fake(t);

	pthread_mutex_lock(&ft->lock);
	ft->watch_sets++;
	if (slot >= t->caps.watches || slot >= FAKE_SLOTS || ft->watched[slot]) {
		ft->misuses++;
	} else {
		ft->watches[slot] = *watch;
		ft->watched[slot] = true;
	}
	pthread_mutex_unlock(&ft->lock);
}

static void watch_clear(struct target *t, unsigned slot)
{
	struct fake_target *ft = fake(t);

	pthread_mutex_lock(&ft->lock);
	ft->watch_clears++;
	if (slot >= FAKE_SLOTS || !ft->watched[slot])
		ft->misuses++;
	else
		ft->watched[slot] = false;
	pthread_mutex_unlock(&ft->lock);
}

static void watch_sync(struct target *t, unsigned self)
{
	struct fake_target *ft = fake(t);

	pthread_mutex_lock(&ft->lock);
	ft->syncs++;
	ft->last_self = self;
	pthread_mutex_unlock(&ft->lock);
	if (ft->on_sync)
		ft->on_sync(ft->hook_ctx, self);
}

static bool barrier(struct target *t, unsigned self)
{
	struct fake_target *ft = fake(t);

	pthread_mutex_lock(&ft->lock);
	ft->barriers++;
	pthread_mutex_unlock(&ft->lock);
	if (ft->on_barrier)
		ft->on_barrier(ft->hook_ctx, self);
	return !ft->barrier_gives_up;
}

static void release(struct target *t, unsigned cpu)
{
	struct fake_target *ft = fake(t);

	pthread_mutex_lock(&ft->lock);
	ft->releases[cpu]++;
	pthread_mutex_unlock(&ft->lock);
	if (ft->on_release)
		ft->on_release(ft->hook_ctx, cpu);
}

static int peek_regs(struct target *t, unsigned cpu, struct x86_regs *regs)
{
	*regs = fake(t)->peek[cpu];
	return 0;
}

static void debug_regs_changed(struct target *t, unsigned cpu)
{
	struct fake_target *ft = fake(t);

	pthread_mutex_lock(&ft->lock);
	ft->debug_changes[cpu]++;
	ft->debug_changed_in = current_stand(ft);
	pthread_mutex_unlock(&ft->lock);
}

static bool idle(struct target *t, unsigned cpu)
{
	return !atomic_load(&fake(t)->busy[cpu]);
}

static uint64_t wake_ups(struct target *t, unsigned cpu)
{
	return atomic_load(&fake(t)->wake_ups[cpu]);
}

static void devices_watch(struct target *t, uint64_t filter)
{
	atomic_store(&fake(t)->device_filter, filter);
}

static void devices_in_flight(struct target *t, const struct device_observer *observer)
{
	struct fake_target *ft = fake(t);
	uint64_t filter = atomic_load(&ft->device_filter);

	pthread_mutex_lock(&ft->lock);
	for (unsigned i = 0; i < ft->segment_count; i++) {
		if (device_filter(ft->segments[i].gpa, ft->segments[i].len) & filter)
			observer->segment(observer->ctx, &ft->segments[i]);
	}
	for (unsigned i = 0; i < ft->store_count; i++) {
		if (device_filter(ft->stores[i].gpa, ft->stores[i].len) & filter)
			observer->ring(observer->ctx, &ft->stores[i]);
	}
	pthread_mutex_unlock(&ft->lock);
}

static void devices_want(struct target *t, unsigned nth)
{
	atomic_store(&fake(t)->wanted, nth);
}

static void devices_let_go(struct target *t)
{
	atomic_fetch_add(&fake(t)->let_go, 1);
}

static bool devices_busy(struct target *t)
{
	return atomic_load(&fake(t)->devices_busy);
}

bool fake_device_begins(struct fake_target *ft, const struct device_access *access)
{
	bool told = atomic_load(&ft->device_filter) & device_filter(access->gpa, access->len);

	if (told)
		ft->target.client->on_device(ft->target.client->ctx, access);
	return told;
}

bool fake_device_ring(struct fake_target *ft, const struct device_access *access)
{
	bool told = atomic_load(&ft->device_filter) & device_filter(access->gpa, access->len);

	if (told)
		ft->target.client->on_ring(ft->target.client->ctx, access);
	return told;
}

static void stats(struct target *t, struct target_stats *out)
{
	(void)t;
	*out = (struct target_stats){.stopped_ns = atomic_load(&fake(t)->stopped_ns),
				     .lost_ns = atomic_load(&fake(t)->lost_ns),
				     .still_ns = atomic_load(&fake(t)->still_ns)};
}

static void stop(struct target *t)
{
	struct fake_target *ft = fake(t);

	pthread_mutex_lock(&ft->lock);
	ft->stops++;
	pthread_mutex_unlock(&ft->lock);
}

unsigned fake_watch_count(struct fake_target *ft)
{
	unsigned n = 0;

	pthread_mutex_lock(&ft->lock);
	for (unsigned i = 0; i < FAKE_SLOTS; i++)
		n += ft->watched[i];
	pthread_mutex_unlock(&ft->lock);
	return n;
}

struct fake_target *fake_target_new(unsigned cpus, unsigned watches)
{
	static const struct target_ops ops = {
		.read_phys = read_phys,
		.write_phys = write_phys,
		.enter = enter,
		.leave = leave,
		.stand_still = stand_still,
		.go_on = go_on,
		.plant = plant,
		.unplant = unplant,
		.refetch = refetch,
		.intercept = intercept,
		.watch_set = watch_set,
		.watch_clear = watch_clear,
		.watch_sync = watch_sync,
		.barrier = barrier,
		.release = release,
		.peek_regs = peek_regs,
		.debug_regs_changed = debug_regs_changed,
		.idle = idle,
		.wake_ups = wake_ups,
		.devices_watch = devices_watch,
		.devices_in_flight = devices_in_flight,
		.devices_busy = devices_busy,
		.devices_want = devices_want,
		.devices_let_go = devices_let_go,
		.stats = stats,
		.stop = stop,
	};
	struct fake_target *ft = calloc(1, sizeof(*ft));

	if (!ft)
		return NULL;
	ft->ram = calloc(1, FAKE_RAM);
	if (!ft->ram) {
		free(ft);
		return NULL;
	}
	ft->target.ops = &ops;
	ft->target.caps = (struct target_caps){
		.cpus = cpus, .watches = watches, .irq_while_held = true, .parallel = true, .devices = true};
	ft->tables_end = 0x1000;
	pthread_mutex_init(&ft->lock, NULL);
	return ft;
}

void fake_target_free(struct fake_target *ft)
{
	if (!ft)
		return;
	pthread_mutex_destroy(&ft->lock);
	free(ft->ram);
	free(ft);
}
