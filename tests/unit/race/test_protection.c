// SPDX-License-Identifier: GPL-2.0-or-later
/* Locksets, and the record of which locks protect which data, which grows moment by moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hv/race/protection.h"

#define TEXT UINT64_C(0xffffffffc0001000)
#define DATUM UINT64_C(0xffff888001234010)
#define OBJECT (DATUM - 0x10)
#define LOCK UINT64_C(0xffff888001234080)
#define OTHER_LOCK UINT64_C(0xffff888001234100)

static int setup(void **state)
{
	*state = protection_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	protection_free(*state);
	return 0;
}

static struct held_lock spin(uint64_t gva)
{
	return (struct held_lock){.gva = gva, .taken_at = TEXT, .kind = LOCK_SPIN};
}

static struct guest_symbol symbol(const char *name)
{
	struct guest_symbol s = {.module = "e100", .addr = TEXT, .size = 0x100};

	snprintf(s.name, sizeof(s.name), "%s", name);
	return s;
}

/* Memory in an object of kmalloc-4k, where DATUM and the locks are. */
static struct guest_memory slab(uint64_t gva)
{
	struct guest_memory m = {
		.kind = GUEST_MEMORY_SLAB, .cpu = -1, .cache = "kmalloc-4k", .object = OBJECT, .object_size = 4096};

	m.offset = (uint32_t)(gva - OBJECT);
	return m;
}

/* The moment at which a task writes DATUM in `function`, called by `operation`. */
static struct lock_moment moment(uint64_t number, const char *function, const char *operation)
{
	struct lock_moment m = {.number = number, .kind = LOCK_MOMENT_ACCESS, .time_ns = number * 1000, .pc = TEXT + 0x1c};

	m.context = (struct guest_context){.pid = 100, .comm = "ip", .known = true};
	m.symbol = symbol(function);
	m.data[0] = (struct lock_datum){.gva = DATUM, .size = 4, .rw = INSN_WRITE, .memory = slab(DATUM)};
	m.data_count = 1;
	m.path[0] = symbol(function);
	m.path[1] = symbol(operation);
	m.path_count = 2;
	return m;
}

static void hold(struct lock_moment *m, struct held_lock lock)
{
	m->locks.held[m->locks.count++] = lock;
}

static void take(struct protection *p, const struct lock_moment *m)
{
	struct err err = {0};

	assert_int_equal(protection_take(p, m, &err), 0);
	assert_int_equal(err.code, EXIT_OK);
}

/* ---- locksets ---- */

static struct lockset set_of(struct held_lock a)
{
	return (struct lockset){.count = 1, .held = {a}};
}

static void one_lock_in_both_sets_excludes(void **state)
{
	struct lockset a = {.count = 2, .held = {spin(OTHER_LOCK), spin(LOCK)}}, b = set_of(spin(LOCK));
	struct lockset c = set_of(spin(DATUM)), none = {0};

	(void)state;
	assert_true(lockset_excludes(&a, &b));
	assert_true(lockset_excludes(&b, &a));
	assert_false(lockset_excludes(&a, &c));
	assert_false(lockset_excludes(&a, &none));
	assert_false(lockset_excludes(&none, &none));
}

static void readers_do_not_exclude_each_other(void **state)
{
	struct held_lock reader = {.gva = LOCK, .kind = LOCK_RWSEM, .shared = true}, writer = reader;
	struct lockset r = set_of(reader), w;

	(void)state;
	writer.shared = false;
	w = set_of(writer);
	assert_false(lockset_excludes(&r, &r));
	assert_true(lockset_excludes(&r, &w));
	assert_true(lockset_excludes(&w, &r));
	assert_true(lockset_excludes(&w, &w));
}

/* A lock that a context may hold counts as held, so that doubts never cause a suspicion. */
static void what_is_not_known_excludes(void **state)
{
	struct held_lock tried = spin(LOCK);
	struct lockset a, b = set_of(spin(LOCK)), full = {.overflow = true}, none = {0};

	(void)state;
	tried.maybe = true;
	a = set_of(tried);
	assert_true(lockset_excludes(&a, &b));
	assert_true(lockset_excludes(&full, &none));
	assert_true(lockset_excludes(&none, &full));
}

/* ---- accesses ---- */

static void the_same_access_is_counted(void **state)
{
	struct protection *p = *state;
	struct lock_moment m = moment(1, "e100_configure", "e100_set_multicast_list");

	hold(&m, spin(LOCK));
	take(p, &m);
	m.number = 2;
	m.time_ns = 9000;
	take(p, &m);
	assert_int_equal(p->access_count, 1);
	assert_int_equal(p->accesses[0].count, 2);
	assert_int_equal(p->accesses[0].first_ns, 1000);
	assert_int_equal(p->accesses[0].last_ns, 9000);
	assert_string_equal(p->accesses[0].site, "e100:e100_configure+0x1c");
	assert_int_equal(p->accesses[0].pc, TEXT + 0x1c);
	assert_int_equal(p->accesses[0].gva, DATUM);
	assert_int_equal(p->accesses[0].size, 4);
	assert_int_equal(p->accesses[0].rw, INSN_WRITE);
	assert_int_equal(p->accesses[0].held_count, 1);
	assert_int_equal(p->locks[p->accesses[0].held[0].lock].gva, LOCK);
	assert_string_equal(p->functions[p->accesses[0].function].name, "e100:e100_configure");
	assert_string_equal(p->functions[p->accesses[0].operation].name, "e100:e100_set_multicast_list");
	assert_int_equal(p->moments[LOCK_MOMENT_ACCESS], 2);
	assert_int_equal(p->lost, 0);
}

/* Each of these changes makes the second access different from the first. */
static void another_site(struct lock_moment *m)
{
	m->pc++;
}

static void another_lock(struct lock_moment *m)
{
	m->locks.held[0].gva = OTHER_LOCK;
}

static void a_reader(struct lock_moment *m)
{
	m->locks.held[0].shared = true;
}

static void perhaps_no_lock(struct lock_moment *m)
{
	m->locks.held[0].maybe = true;
}

static void no_lock(struct lock_moment *m)
{
	m->locks.count = 0;
}

static void too_many_locks(struct lock_moment *m)
{
	m->locks.overflow = true;
}

static void a_softirq(struct lock_moment *m)
{
	m->context.kind = GUEST_SOFTIRQ;
}

static void interrupts_off(struct lock_moment *m)
{
	m->context.irqs_off = true;
}

static void in_rcu(struct lock_moment *m)
{
	m->context.rcu_known = true;
	m->context.rcu_nesting = 1;
}

static void another_datum(struct lock_moment *m)
{
	m->data[0].gva += 4;
}

static void a_read(struct lock_moment *m)
{
	m->data[0].rw = INSN_READ;
}

static void locked_instruction(struct lock_moment *m)
{
	m->data[0].locked = true;
}

static void another_operation(struct lock_moment *m)
{
	m->path[1] = symbol("e100_watchdog");
}

static void no_path(struct lock_moment *m)
{
	m->path_count = 0;
}

static void what_differs_is_kept_apart(void **state)
{
	void (*const changes[])(struct lock_moment *) = {
		another_site,	another_lock,	    a_reader,	       perhaps_no_lock, no_lock,
		too_many_locks, a_softirq,	    interrupts_off,    in_rcu,		another_datum,
		a_read,		locked_instruction, another_operation, no_path};
	const size_t n = sizeof(changes) / sizeof(changes[0]);
	struct protection *p = *state;

	for (size_t i = 0; i <= n; i++) {
		struct lock_moment m = moment(i + 1, "e100_configure", "e100_set_multicast_list");

		hold(&m, spin(LOCK));
		if (i < n)
			changes[i](&m);
		take(p, &m);
		take(p, &m);
		assert_int_equal(p->access_count, i + 1);
		assert_int_equal(p->accesses[i].count, 2);
	}
	assert_true(p->accesses[5].held_overflow);
	assert_int_equal(p->accesses[13].operation, PROTECTION_NONE);
}

static void the_order_of_locks_is_nothing(void **state)
{
	struct protection *p = *state;
	struct lock_moment a = moment(1, "f", "f"), b = moment(2, "f", "f");

	hold(&a, spin(LOCK));
	hold(&a, spin(OTHER_LOCK));
	hold(&b, spin(OTHER_LOCK));
	hold(&b, spin(LOCK));
	take(p, &a);
	take(p, &b);
	assert_int_equal(p->access_count, 1);
	assert_int_equal(p->accesses[0].count, 2);
	assert_int_equal(p->accesses[0].held_count, 2);
	assert_true(p->accesses[0].held[0].lock < p->accesses[0].held[1].lock);
}

static void an_instruction_may_have_two_data(void **state)
{
	struct protection *p = *state;
	struct lock_moment m = moment(1, "f", "f");

	m.data[1] = (struct lock_datum){.gva = DATUM + 8, .size = 8, .rw = INSN_READ, .memory = slab(DATUM + 8)};
	m.data_count = 2;
	take(p, &m);
	assert_int_equal(p->access_count, 2);
	assert_int_equal(p->accesses[0].gva, DATUM);
	assert_int_equal(p->accesses[1].gva, DATUM + 8);
	assert_int_equal(p->accesses[1].rw, INSN_READ);
}

static void who_came_is_known(void **state)
{
	struct protection *p = *state;
	struct lock_moment m = moment(1, "f", "f");

	take(p, &m);
	assert_int_equal(p->accesses[0].who, 100);
	assert_false(p->accesses[0].several);
	m.context.pid = 101;
	take(p, &m);
	assert_int_equal(p->accesses[0].who, 100);
	assert_true(p->accesses[0].several);
	/* An interrupt belongs to its CPU, whichever task it interrupted. */
	m = moment(2, "g", "g");
	m.context.kind = GUEST_HARDIRQ;
	m.cpu = 1;
	take(p, &m);
	m.context.pid = 7;
	take(p, &m);
	assert_int_equal(p->accesses[1].who, -2);
	assert_false(p->accesses[1].several);
}

/* ---- lives and publication ---- */

/* The record keeps the first and last access of each task, for up to PROTECTION_SPANS_MAX tasks. */
static void when_each_task_came_is_known(void **state)
{
	struct protection *p = *state;
	const struct prot_access *a;
	uint64_t number = 0;

	for (int32_t round = 0; round < 2; round++) {
		for (int32_t task = 0; task < (int32_t)PROTECTION_SPANS_MAX; task++) {
			struct lock_moment m = moment(++number, "e100_exec_cmd", "e100_open");

			m.context.pid = 100 + task;
			take(p, &m);
		}
	}
	a = &p->accesses[0];
	assert_int_equal(a->span_count, PROTECTION_SPANS_MAX);
	assert_int_equal(a->spans[1].who, 101);
	assert_int_equal(a->spans[1].first_ns, 2000);
	assert_int_equal(a->spans[1].last_ns, (PROTECTION_SPANS_MAX + 2) * 1000);
	for (int32_t task = 0; task < 2; task++) {
		struct lock_moment m = moment(++number, "e100_exec_cmd", "e100_open");

		m.context.pid = 200 - 100 * task;
		take(p, &m);
		assert_int_equal(a->span_count, 0);
	}
}

static void an_object_is_published_by_a_second_context(void **state)
{
	struct protection *p = *state;
	struct lock_moment m = moment(1, "creator", "creator");

	take(p, &m);
	take(p, &m);
	assert_int_equal(p->accesses[0].count_shared, 0);
	/* The second context accesses another datum of the same object. */
	m = moment(2, "user", "user");
	m.context.pid = 101;
	m.data[0].gva += 8;
	m.data[0].memory = slab(DATUM + 8);
	take(p, &m);
	assert_int_equal(p->accesses[1].count_shared, 1);
	m = moment(3, "creator", "creator");
	take(p, &m);
	assert_int_equal(p->accesses[0].count, 3);
	assert_int_equal(p->accesses[0].count_shared, 1);
}

static void free_object(struct protection *p, uint64_t number, uint64_t gva)
{
	struct lock_moment m = {.number = number, .kind = LOCK_MOMENT_FREE, .lock = {.gva = gva}};

	take(p, &m);
}

static void a_freed_object_has_another_life(void **state)
{
	struct protection *p = *state;
	struct lock_moment m = moment(1, "f", "f"), other = moment(2, "g", "g");

	other.context.pid = 101;
	take(p, &m);
	take(p, &other);
	free_object(p, 3, OBJECT);
	take(p, &m);
	assert_int_equal(p->access_count, 3);
	assert_int_equal(p->accesses[0].life, 0);
	assert_int_equal(p->accesses[2].life, 1);
	/* Only the new creator has accessed the new object, so it is not published. */
	assert_int_equal(p->accesses[2].count_shared, 0);
	take(p, &m);
	assert_int_equal(p->access_count, 3);
	/* Freeing another object changes nothing. */
	free_object(p, 4, OBJECT + 4096);
	take(p, &m);
	assert_int_equal(p->access_count, 3);
}

/* The detector missed the free of the object. The name of the slab cache shows that a new object is in its place. */
static void another_object_in_its_place_is_noticed(void **state)
{
	struct protection *p = *state;
	struct lock_moment m = moment(1, "f", "f");

	take(p, &m);
	snprintf(m.data[0].memory.cache, sizeof(m.data[0].memory.cache), "dentry");
	m.context.pid = 101;
	take(p, &m);
	assert_int_equal(p->access_count, 2);
	assert_int_equal(p->accesses[1].life, 1);
	assert_int_equal(p->accesses[1].count_shared, 0);
}

/* Pages are part of no slab object. A free of the address at which they begin ends their life. */
static void pages_have_lives_too(void **state)
{
	struct protection *p = *state;
	struct lock_moment m = moment(1, "f", "f");

	m.data[0].memory = (struct guest_memory){.kind = GUEST_MEMORY_PAGE, .cpu = -1};
	take(p, &m);
	m.context.pid = 101;
	take(p, &m);
	assert_int_equal(p->accesses[0].count_shared, 1);
	free_object(p, 2, DATUM & ~UINT64_C(4095));
	take(p, &m);
	assert_int_equal(p->access_count, 2);
	assert_int_equal(p->accesses[1].life, 1);
	assert_int_equal(p->accesses[1].count_shared, 0);
}

static void reuse(struct protection *p, uint64_t number, uint64_t gva)
{
	struct lock_moment m = {.number = number, .kind = LOCK_MOMENT_FREE, .lock = {.gva = gva}, .reused = true};

	take(p, &m);
}

/* Objects in a pool are part of no slab object. Each of them has its own lives. */
static void objects_in_a_pool_have_lives(void **state)
{
	const uint64_t pool = (DATUM & ~UINT64_C(4095)) + 0x800;
	struct protection *p = *state;
	struct lock_moment m = moment(1, "f", "f");

	m.data[0].memory = (struct guest_memory){.kind = GUEST_MEMORY_PAGE, .cpu = -1};
	m.data[0].gva = pool + 0x118;
	take(p, &m);
	/* The next object in the pool, and one that is too far before, are others. */
	reuse(p, 2, pool + 0x180);
	reuse(p, 3, pool - LOCK_REUSED_BYTES);
	take(p, &m);
	assert_int_equal(p->access_count, 1);
	m.context.pid = 101;
	take(p, &m);
	assert_int_equal(p->accesses[0].count_shared, 1);
	reuse(p, 4, pool);
	take(p, &m);
	assert_int_equal(p->access_count, 2);
	assert_int_not_equal(p->accesses[1].life, p->accesses[0].life);
	assert_int_equal(p->accesses[1].count_shared, 0);
	/* An object begins closer to the word: no life of the word is one of the object before it. */
	reuse(p, 5, pool + 0x100);
	take(p, &m);
	assert_int_equal(p->access_count, 3);
	assert_int_not_equal(p->accesses[2].life, p->accesses[1].life);
}

/* ---- locks ---- */

static struct lock_moment taking(uint64_t number, const char *function, const char *operation)
{
	struct lock_moment m = moment(number, function, operation);

	m.kind = LOCK_MOMENT_TAKE;
	m.lock = spin(LOCK);
	m.lock_memory = slab(LOCK);
	m.data_count = 0;
	return m;
}

static void a_lock_that_was_held_before_it_was_taken_is_one(void **state)
{
	struct protection *p = *state;
	struct lock_moment m = moment(1, "f", "f");

	hold(&m, spin(LOCK));
	take(p, &m);
	assert_int_equal(p->locks[0].memory.kind, GUEST_MEMORY_UNKNOWN);
	protection_name(p);
	assert_string_equal(p->locks[0].name, "0xffff888001234080");
	m = taking(2, "f", "f");
	take(p, &m);
	assert_int_equal(p->lock_count, 1);
	assert_int_equal(p->locks[0].memory.kind, GUEST_MEMORY_SLAB);
	protection_name(p);
	assert_string_equal(p->locks[0].name, "kmalloc-4k+0x80");
}

/* The caller of a driver's operations holds rtnl_mutex. Only the mutex's owner word shows that. */
static void a_lock_from_outside_has_a_name(void **state)
{
	struct protection *p = *state;
	struct lock_moment m = moment(1, "f", "f");

	hold(&m, spin(LOCK));
	hold(&m, (struct held_lock){.gva = OTHER_LOCK, .kind = LOCK_MUTEX});
	m.held_memory[1] = (struct guest_memory){.kind = GUEST_MEMORY_KERNEL, .cpu = -1, .object = OTHER_LOCK};
	snprintf(m.held_memory[1].symbol.name, sizeof(m.held_memory[1].symbol.name), "rtnl_mutex");
	take(p, &m);
	protection_name(p);
	assert_int_equal(p->lock_count, 2);
	assert_string_equal(p->locks[1].name, "rtnl_mutex");
}

/* The guest's tables may describe the lock's memory differently later, for example because the object was freed meanwhile. */
static void an_address_is_one_lock(void **state)
{
	struct protection *p = *state;
	struct lock_moment m = taking(1, "f", "f"), held = moment(3, "g", "g");

	m.lock_memory = (struct guest_memory){.kind = GUEST_MEMORY_PAGE, .cpu = -1};
	take(p, &m);
	hold(&held, spin(LOCK));
	take(p, &held);
	m.lock_memory = slab(LOCK);
	take(p, &m);
	m.lock_memory = (struct guest_memory){.kind = GUEST_MEMORY_PAGE, .cpu = -1};
	take(p, &m);
	assert_int_equal(p->lock_count, 1);
	assert_int_equal(p->accesses[0].held[0].lock, 0);
	assert_int_equal(p->takes[0].count, 3);
	protection_name(p);
	assert_string_equal(p->locks[0].name, "kmalloc-4k+0x80");
}

static void takes_are_counted_by_context(void **state)
{
	struct protection *p = *state;
	struct lock_moment m = taking(1, "f", "f");

	take(p, &m);
	take(p, &m);
	assert_int_equal(p->take_count, 1);
	assert_int_equal(p->takes[0].count, 2);
	assert_false(p->takes[0].irqs_off);
	assert_false(p->takes[0].softirqs_off);
	m.lock.off = LOCK_NO_SOFTIRQ;
	take(p, &m);
	assert_false(p->takes[1].irqs_off);
	assert_true(p->takes[1].softirqs_off);
	m.lock.off = LOCK_NO_IRQ;
	take(p, &m);
	assert_true(p->takes[2].irqs_off);
	assert_true(p->takes[2].softirqs_off);
	m = taking(2, "irq", "irq");
	m.context.kind = GUEST_HARDIRQ;
	m.lock.maybe = true;
	m.lock.shared = true;
	take(p, &m);
	assert_int_equal(p->takes[3].context, GUEST_HARDIRQ);
	assert_true(p->takes[3].irqs_off);
	assert_true(p->takes[3].tried);
	assert_true(p->takes[3].shared);
	assert_int_equal(p->lock_count, 1);
	assert_int_equal(p->moments[LOCK_MOMENT_TAKE], 5);
}

/* ---- pairs ---- */

static uint32_t function(const struct protection *p, const char *name)
{
	for (uint32_t i = 0; i < p->function_count; i++) {
		if (strcmp(p->functions[i].name, name) == 0)
			return i;
	}
	fail_msg("no function %s", name);
	return PROTECTION_NONE;
}

static void operations_meet(void **state)
{
	struct protection *p = *state;
	struct lock_moment a = moment(1, "f", "open"), b = moment(2, "g", "poll"), c = moment(3, "h", "close");

	take(p, &a);
	b.during[0] = 1;
	b.during_count = 1;
	take(p, &b);
	take(p, &c);
	assert_int_equal(p->pair_count, 1);
	assert_int_equal(p->pairs[0].count, 1);
	assert_true(p->pairs[0].a <= p->pairs[0].b);
	assert_true(protection_concurrent(p, function(p, "e100:open"), function(p, "e100:poll")));
	assert_true(protection_concurrent(p, function(p, "e100:poll"), function(p, "e100:open")));
	assert_false(protection_concurrent(p, function(p, "e100:open"), function(p, "e100:close")));
	assert_false(protection_concurrent(p, function(p, "e100:open"), function(p, "e100:open")));
	assert_false(protection_concurrent(p, PROTECTION_NONE, function(p, "e100:open")));
	/* The same pair a second time. */
	a.number = 4;
	a.during[0] = 1;
	a.during_count = 1;
	take(p, &a);
	assert_true(protection_concurrent(p, function(p, "e100:open"), function(p, "e100:open")));
}

/* A lost moment, a moment without a stack and a moment too long ago make no pair. */
static void what_is_not_known_makes_no_pair(void **state)
{
	struct protection *p = *state;
	struct lock_moment a = moment(1, "f", "open"), b = moment(70000, "g", "poll");

	a.path_count = 0;
	take(p, &a);
	b.during[0] = 1;
	b.during[1] = 5;
	b.during[2] = 70000 - 65536;
	b.during_count = 3;
	take(p, &b);
	assert_int_equal(p->pair_count, 0);
}

/* ---- names ---- */

static struct guest_memory variable(const char *name, const char *member)
{
	struct guest_memory m = {.kind = GUEST_MEMORY_MODULE, .cpu = -1, .object = OBJECT, .object_size = 512, .offset = 0x10};

	m.symbol = symbol(name);
	snprintf(m.member, sizeof(m.member), "%s", member);
	return m;
}

static const char *access_name(struct protection *p, const struct guest_memory *memory)
{
	struct lock_moment m = moment(1, "f", "f");

	m.data[0].memory = *memory;
	m.pc += p->access_count;
	take(p, &m);
	protection_name(p);
	return p->accesses[p->access_count - 1].name;
}

static void data_have_names(void **state)
{
	struct protection *p = *state;
	struct guest_memory m = variable("stats", "rx.packets");

	assert_string_equal(access_name(p, &m), "stats.rx.packets");
	m.member[0] = '\0';
	assert_string_equal(access_name(p, &m), "stats+0x10");
	m.kind = GUEST_MEMORY_PER_CPU;
	m.cpu = 3;
	assert_string_equal(access_name(p, &m), "stats+0x10 of CPU 3");
	m = slab(DATUM);
	assert_string_equal(access_name(p, &m), "kmalloc-4k+0x10");
	m = slab(m.object);
	assert_string_equal(access_name(p, &m), "kmalloc-4k+0x0");
	snprintf(m.type, sizeof(m.type), "inode");
	snprintf(m.member, sizeof(m.member), "i_nlink");
	assert_string_equal(access_name(p, &m), "inode->i_nlink");
	m = (struct guest_memory){.kind = GUEST_MEMORY_PAGE, .cpu = -1};
	assert_string_equal(access_name(p, &m), "0xffff888001234010");
}

static const char *lock_name(struct protection *p, enum lock_kind kind, const struct guest_memory *memory)
{
	struct lock_moment m = taking(1, "f", "f");

	m.lock.kind = (uint8_t)kind;
	m.lock.gva += 64 * p->lock_count;
	m.lock_memory = *memory;
	take(p, &m);
	protection_name(p);
	return p->locks[p->lock_count - 1].name;
}

/* The name of a lock leaves out the members inside of the lock. */
static void locks_have_names(void **state)
{
	const struct guest_memory none = {0};
	char line[LOCK_NAME_MAX];
	struct protection *p = *state;
	struct guest_memory m = variable("nic", "cb_lock.rlock.raw_lock.val.counter");

	assert_string_equal(lock_name(p, LOCK_SPIN, &m), "nic.cb_lock");
	m = variable("rtnl_mutex", "owner.counter");
	assert_string_equal(lock_name(p, LOCK_MUTEX, &m), "rtnl_mutex");
	m = variable("dev", "lock.lock.raw_lock.val.counter");
	assert_string_equal(lock_name(p, LOCK_SEMAPHORE, &m), "dev.lock");
	m = variable("sb", "s_umount.count.counter");
	assert_string_equal(lock_name(p, LOCK_RWSEM, &m), "sb.s_umount");
	m = slab(LOCK);
	snprintf(m.type, sizeof(m.type), "inode");
	snprintf(m.member, sizeof(m.member), "i_lock.rlock.raw_lock.val.counter");
	assert_string_equal(lock_name(p, LOCK_SPIN, &m), "inode->i_lock");
	protection_lock_name(LOCK_CALLBACK, 11, &none, line);
	assert_string_equal(line, "interrupt 11");
}

/* Names from the guest must not contain control characters, which could steer a terminal. */
static void strings_are_printable(void **state)
{
	struct protection *p = *state;
	struct guest_memory m = variable("bad\n\033[2J", "a.\033b");
	const char *name = access_name(p, &m);

	for (; *name; name++)
		assert_in_range(*name, ' ', '~');
	for (name = p->accesses[0].memory.symbol.name; *name; name++)
		assert_in_range(*name, ' ', '~');
}

/* ---- limits ---- */

static void a_full_table_loses_and_says_so(void **state)
{
	struct protection *p = *state;

	for (uint32_t i = 0; i < PROTECTION_LOCKS_MAX; i++) {
		struct lock_moment m = taking(i + 1, "f", "f");

		m.lock.gva += UINT64_C(64) * i;
		take(p, &m);
	}
	assert_int_equal(p->lock_count, PROTECTION_LOCKS_MAX);
	assert_int_equal(p->lost, 0);

	struct lock_moment m = moment(PROTECTION_LOCKS_MAX + 1, "f", "f");

	hold(&m, spin(LOCK - 64));
	take(p, &m);
	assert_int_equal(p->lock_count, PROTECTION_LOCKS_MAX);
	assert_int_equal(p->lost, 1);
	/* The record has no room for this lock. The access counts as locked all the same, and causes no suspicion. */
	assert_int_equal(p->accesses[0].held_count, 0);
	assert_true(p->accesses[0].held_overflow);
}

/* ---- critical sections ---- */

static void an_access_knows_its_sections(void **state)
{
	struct protection *p = *state;
	struct lock_moment m = moment(1, "f", "f");
	struct held_lock maybe = spin(OTHER_LOCK), outside = spin(OTHER_LOCK + 64);

	hold(&m, spin(LOCK));
	maybe.maybe = true;
	outside.taken_at = 0;
	hold(&m, maybe);
	hold(&m, outside);
	take(p, &m);
	m.number++;
	take(p, &m);
	assert_int_equal(p->use_count, 1);
	assert_int_equal(p->uses[0].access, 0);
	assert_int_equal(p->locks[p->uses[0].lock].gva, LOCK);
	assert_int_equal(p->uses[0].taken_at, TEXT);
	assert_int_equal(p->uses[0].count, 2);
	assert_false(p->uses[0].decides);
	/* The same access in another section, or with another way to use what it reads, is another use and no other access. */
	m.locks.held[0].taken_at = TEXT + 0x40;
	take(p, &m);
	m.data[0].decides = true;
	take(p, &m);
	assert_int_equal(p->access_count, 1);
	assert_int_equal(p->use_count, 3);
	assert_true(p->uses[2].decides);
}

static void sections_are_replaced_and_sorted(void **state)
{
	struct protection *p = *state;
	struct section_pair list[] = {{.first = 2, .second = 3, .count = 1},
				      {.first = 1, .second = 4, .count = 2},
				      {.first = 1, .second = 3, .count = 3}};

	assert_int_equal(protection_set_sections(p, list, 3, NULL), 0);
	assert_int_equal(protection_set_sections(p, list, 3, NULL), 0);
	assert_int_equal(p->section_count, 3);
	assert_int_equal(p->sections[0].count, 3);
	assert_int_equal(p->sections[1].count, 2);
	assert_int_equal(p->sections[2].count, 1);
	assert_int_equal(protection_set_sections(p, NULL, 0, NULL), 0);
	assert_int_equal(p->section_count, 0);
}

static void many_accesses_are_found_again(void **state)
{
	struct protection *p = *state;

	for (unsigned round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < PROTECTION_ACCESSES_MAX + 10; i++) {
			struct lock_moment m = moment(i + 1, "f", "f");

			m.pc += i;
			take(p, &m);
		}
	}
	assert_int_equal(p->access_count, PROTECTION_ACCESSES_MAX);
	assert_int_equal(p->lost, 20);
	for (uint32_t i = 0; i < p->access_count; i++)
		assert_int_equal(p->accesses[i].count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_lock_in_both_sets_excludes),
		cmocka_unit_test(readers_do_not_exclude_each_other),
		cmocka_unit_test(what_is_not_known_excludes),
		cmocka_unit_test_setup_teardown(the_same_access_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(what_differs_is_kept_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(the_order_of_locks_is_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(an_instruction_may_have_two_data, setup, teardown),
		cmocka_unit_test_setup_teardown(who_came_is_known, setup, teardown),
		cmocka_unit_test_setup_teardown(when_each_task_came_is_known, setup, teardown),
		cmocka_unit_test_setup_teardown(an_object_is_published_by_a_second_context, setup, teardown),
		cmocka_unit_test_setup_teardown(a_freed_object_has_another_life, setup, teardown),
		cmocka_unit_test_setup_teardown(another_object_in_its_place_is_noticed, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_have_lives_too, setup, teardown),
		cmocka_unit_test_setup_teardown(objects_in_a_pool_have_lives, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lock_that_was_held_before_it_was_taken_is_one, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lock_from_outside_has_a_name, setup, teardown),
		cmocka_unit_test_setup_teardown(an_address_is_one_lock, setup, teardown),
		cmocka_unit_test_setup_teardown(takes_are_counted_by_context, setup, teardown),
		cmocka_unit_test_setup_teardown(operations_meet, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_known_makes_no_pair, setup, teardown),
		cmocka_unit_test_setup_teardown(data_have_names, setup, teardown),
		cmocka_unit_test_setup_teardown(locks_have_names, setup, teardown),
		cmocka_unit_test_setup_teardown(strings_are_printable, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_table_loses_and_says_so, setup, teardown),
		cmocka_unit_test_setup_teardown(an_access_knows_its_sections, setup, teardown),
		cmocka_unit_test_setup_teardown(sections_are_replaced_and_sorted, setup, teardown),
		cmocka_unit_test_setup_teardown(many_accesses_are_found_again, setup, teardown),
	};

	return cmocka_run_group_tests_name("race_protection", tests, NULL, NULL);
}
