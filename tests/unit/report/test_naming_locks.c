// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the data and locks in a record: from the pointers that instructions went through, and from variables. */
#include "tests/unit/report/naming_rig.h"

#include "hv/report/naming/locks.h"

#define LIMIT_NS UINT64_C(600000000000)
#define OBJECT_BYTES 192
#define OTHER_OBJECT (OBJECT + OBJECT_BYTES)
#define AT_NEXT 0
#define LISTS (AT_NEXT + 8)

/* Each test has its own record. The debug files of the sample name it. */
struct bench {
	struct fixture *f;
	struct protection *p;
	struct report_modules modules;
	uint64_t number;
};

static struct bench begin(void **state)
{
	struct bench b = {.f = *state, .p = protection_new()};

	assert_non_null(b.p);
	protection_set_slide(b.p, SLIDE);
	return b;
}

static struct guest_memory slab_at(uint64_t object, uint64_t gva)
{
	return (struct guest_memory){.kind = GUEST_MEMORY_SLAB,
				     .cpu = -1,
				     .cache = "kmalloc-192",
				     .object = object,
				     .object_size = OBJECT_BYTES,
				     .offset = (uint32_t)(gva - object)};
}

/* The function's `nth` access, to `size` bytes at `gva`. Its base register has the value `base`. 0: the value is not known. */
static struct lock_moment moment(struct bench *b, const char *function, unsigned nth, uint64_t base, uint64_t gva,
				 uint32_t size)
{
	struct place place = sample_symbol(&b->f->sample, function);
	size_t len;
	const uint8_t *code = sample_section(&b->f->sample, place.section, &len);
	struct insn i = find_access(b->f, function, nth, code + place.offset);
	struct lock_moment m = {.number = ++b->number, .kind = LOCK_MOMENT_ACCESS, .pc = i.addr, .data_count = 1};

	snprintf(m.symbol.name, sizeof(m.symbol.name), "%s", function);
	m.symbol.addr = place.addr + SLIDE;
	m.symbol.size = place.size;
	m.data[0] = (struct lock_datum){.gva = gva, .size = size, .rw = INSN_READ, .memory = slab_at(OBJECT, gva)};
	if (base)
		m.data[0].base = (struct base_register){base, (uint8_t)i.mem[0].base};
	return m;
}

static void take(struct bench *b, const struct lock_moment *m)
{
	struct err err = {0};

	if (protection_take(b->p, m, &err))
		fail_msg("%s", err.text);
}

static void access_to(struct bench *b, const char *function, uint64_t base, uint64_t gva, uint32_t size)
{
	struct lock_moment m = moment(b, function, 0, base, gva, size);

	take(b, &m);
}

static bool name_all(struct bench *b, uint64_t limit_ns)
{
	struct naming n = b->f->naming;
	struct err err = {0};
	bool complete;

	n.modules = &b->modules;
	protection_name(b->p);
	if (naming_locks(&n, b->p, limit_ns, &complete, &err))
		fail_msg("%s", err.text);
	return complete;
}

static void expect_names(struct bench *b, const char *const *names, unsigned count)
{
	assert_true(name_all(b, LIMIT_NS));
	assert_int_equal(b->p->access_count, count);
	for (unsigned i = 0; i < count; i++)
		assert_string_equal(b->p->accesses[i].name, names[i]);
	protection_free(b->p);
}

#define EXPECT(b, ...)                                                    \
	do {                                                              \
		static const char *const names[] = {__VA_ARGS__};         \
		expect_names(b, names, sizeof(names) / sizeof(names[0])); \
	} while (0)

static void test_member_through_a_pointer(void **state)
{
	struct bench b = begin(state);

	access_to(&b, "read_member", OBJECT, OBJECT + AT_NUMBER, 4);
	EXPECT(&b, "outer->in[1].b[2]");
}

/* The struct begins after the start of the object, as a driver's data begin after their net_device. */
static void test_struct_inside_of_an_object(void **state)
{
	struct bench b = begin(state);

	access_to(&b, "read_member", OBJECT + 8, OBJECT + 8 + AT_NUMBER, 4);
	access_to(&b, "read_index", 0, OBJECT + 8 + AT_WORD, 1);
	access_to(&b, "read_index", 0, OBJECT, 8);
	EXPECT(&b, "outer->in[1].b[2]", "outer->word.low", "kmalloc-192+0x0");
}

/* A type that one pointer gives an object names all accesses to this object, and to no other object. */
static void test_object_seen_once_through_a_pointer(void **state)
{
	struct bench b = begin(state);
	struct lock_moment other = moment(&b, "read_index", 0, 0, OTHER_OBJECT + AT_WORD, 1);

	access_to(&b, "read_index", 0, OBJECT + AT_WORD, 1);
	access_to(&b, "read_member", OBJECT, OBJECT + AT_NUMBER, 4);
	other.data[0].memory = slab_at(OTHER_OBJECT, OTHER_OBJECT + AT_WORD);
	take(&b, &other);
	EXPECT(&b, "outer->word.low", "outer->in[1].b[2]", "kmalloc-192+0x10");
}

/* If a cache has the name of the struct, the type holds for all its objects, unless the objects are larger than the struct. */
static void test_cache_of_one_struct(void **state)
{
	static const struct {
		const char *cache;
		uint32_t more; /* Bytes of an object after the struct. */
		uint8_t merged;
		const char *name;
	} cases[] = {{"outer", 0, GUEST_MERGED_NO, "outer->word.low"},	{"outer", 63, GUEST_MERGED_NO, "outer->word.low"},
		     {"outer", 64, GUEST_MERGED_NO, "outer+0x10"},	{"others", 0, GUEST_MERGED_NO, "others+0x10"},
		     {"outer", 0, GUEST_MERGED_UNKNOWN, "outer?+0x10"}, {"outer", 0, GUEST_MERGED_YES, NULL}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench b = begin(state);
		uint32_t size = (uint32_t)sample_symbol(&b.f->sample, "global_outer").size + cases[i].more;
		struct lock_moment typed = moment(&b, "read_member", 0, OBJECT, OBJECT + AT_NUMBER, 4);
		struct lock_moment other = moment(&b, "read_index", 0, 0, OBJECT + size + AT_WORD, 1);
		struct guest_memory *memory = &other.data[0].memory;
		char merged[64];

		*memory = slab_at(OBJECT + size, OBJECT + size + AT_WORD);
		snprintf(memory->cache, sizeof(memory->cache), "%s", cases[i].cache);
		typed.data[0].memory.merged = memory->merged = cases[i].merged;
		memcpy(typed.data[0].memory.cache, memory->cache, sizeof(memory->cache));
		typed.data[0].memory.object_size = memory->object_size = size;
		take(&b, &typed);
		take(&b, &other);
		assert_true(name_all(&b, LIMIT_NS));
		assert_string_equal(b.p->accesses[0].name, "outer->in[1].b[2]");
		snprintf(merged, sizeof(merged), "kmalloc-or-alias-%u+0x10", size);
		assert_string_equal(b.p->accesses[1].name, cases[i].merged == GUEST_MERGED_YES ? merged : cases[i].name);
		protection_free(b.p);
	}
}

/* The object was freed between the two accesses, so the second object may have another type. */
static void test_each_life_has_its_own_types(void **state)
{
	struct bench b = begin(state);
	const struct lock_moment over = {.number = 99, .kind = LOCK_MOMENT_FREE, .lock = {.gva = OBJECT}};

	access_to(&b, "read_member", OBJECT, OBJECT + AT_NUMBER, 4);
	take(&b, &over);
	access_to(&b, "read_index", 0, OBJECT + AT_WORD, 1);
	EXPECT(&b, "outer->in[1].b[2]", "kmalloc-192+0x10");
}

static void test_types_that_disagree_say_nothing(void **state)
{
	struct bench b = begin(state);

	access_to(&b, "read_member", OBJECT, OBJECT + AT_NUMBER, 4);
	access_to(&b, "read_record", OBJECT, OBJECT + AT_VALUES + 8, 8);
	access_to(&b, "read_index", 0, OBJECT + AT_WORD, 1);
	EXPECT(&b, "kmalloc-192+0x40", "kmalloc-192+0x28", "kmalloc-192+0x10");
}

/* A pointer to the first member of a struct agrees with a pointer to the struct. */
static void test_struct_in_a_struct_agrees(void **state)
{
	struct bench b = begin(state);

	access_to(&b, "read_list", OBJECT, OBJECT + AT_NEXT, 8);
	access_to(&b, "read_member", OBJECT, OBJECT + AT_NUMBER, 4);
	EXPECT(&b, "outer->link.next", "outer->in[1].b[2]");
}

/* The inlined function has a pointer to the list. The caller's pointer to the object gives a better name. */
static void test_inlined_function(void **state)
{
	struct bench b = begin(state);

	access_to(&b, "outermost", OBJECT, OBJECT + AT_NEXT, 8);
	EXPECT(&b, "outer->link.next");
}

static void test_struct_that_does_not_fit_its_object(void **state)
{
	struct bench b = begin(state);
	struct lock_moment m = moment(&b, "read_member", 0, OBJECT, OBJECT + AT_NUMBER, 4);

	m.data[0].memory.object_size = AT_NUMBER + 4;
	take(&b, &m);
	EXPECT(&b, "kmalloc-192+0x40");
}

/* Another module took the place of the site's module, so debug files name another function at the address. */
static void test_site_of_another_function(void **state)
{
	struct bench b = begin(state);
	struct lock_moment m = moment(&b, "read_member", 0, OBJECT, OBJECT + AT_NUMBER, 4);

	snprintf(m.symbol.name, sizeof(m.symbol.name), "read_memb");
	take(&b, &m);
	snprintf(m.symbol.module, sizeof(m.symbol.module), "e100");
	snprintf(m.symbol.name, sizeof(m.symbol.name), "read_member");
	take(&b, &m);
	EXPECT(&b, "kmalloc-192+0x40", "kmalloc-192+0x40");
}

/* Names that the guest gives stay: a CPU's copy of a variable, and a type that the guest knows. */
static void test_what_the_guest_knows_stays(void **state)
{
	struct bench b = begin(state);
	struct lock_moment m = moment(&b, "read_member", 0, OBJECT, OBJECT + AT_NUMBER, 4);
	struct guest_memory *memory = &m.data[0].memory;

	snprintf(memory->type, sizeof(memory->type), "thing");
	snprintf(memory->member, sizeof(memory->member), "one");
	take(&b, &m);
	m = moment(&b, "read_member", 0, OBJECT, OBJECT + AT_NUMBER, 4);
	*memory = (struct guest_memory){
		.kind = GUEST_MEMORY_PER_CPU, .cpu = 1, .object = OBJECT, .object_size = 192, .offset = 64};
	snprintf(memory->symbol.name, sizeof(memory->symbol.name), "runqueues");
	m.data[0].size = 8;
	take(&b, &m);
	EXPECT(&b, "thing->one", "runqueues+0x40 of CPU 1");
}

static void test_variable(void **state)
{
	struct bench b = begin(state);
	uint64_t outer = sample_symbol(&b.f->sample, "global_outer").addr + SLIDE;
	struct lock_moment m = moment(&b, "read_index", 0, 0, outer + AT_NUMBER, 4);
	struct guest_memory *memory = &m.data[0].memory;

	*memory = (struct guest_memory){.kind = GUEST_MEMORY_KERNEL, .cpu = -1, .offset = AT_NUMBER};
	snprintf(memory->symbol.name, sizeof(memory->symbol.name), "global_outer");
	take(&b, &m);
	/* The guest names another variable. */
	m.data[0].size = 8;
	snprintf(memory->symbol.name, sizeof(memory->symbol.name), "global");
	take(&b, &m);
	EXPECT(&b, "global_outer.in[1].b[2]", "global+0x40");
}

static void take_lock(struct bench *b, uint64_t base, uint64_t gva)
{
	struct lock_moment m = moment(b, "read_member", 0, 0, gva, 1);
	struct place place = sample_symbol(&b->f->sample, "read_member");
	size_t len;
	const uint8_t *code = sample_section(&b->f->sample, place.section, &len);

	m.kind = LOCK_MOMENT_TAKE;
	m.data_count = 0;
	m.lock = (struct held_lock){.gva = gva, .kind = LOCK_SPIN};
	m.lock_memory = slab_at(OBJECT, gva);
	m.lock_base =
		(struct base_register){base, (uint8_t)find_access(b->f, "read_member", 0, code + place.offset).mem[0].base};
	take(b, &m);
}

static void test_lock_through_its_argument(void **state)
{
	struct bench b = begin(state);

	take_lock(&b, OBJECT, OBJECT + AT_WORD);
	name_all(&b, LIMIT_NS);
	assert_string_equal(b.p->locks[0].name, "outer->word.low");
	protection_free(b.p);
}

static void test_lock_in_an_object_seen_through_a_pointer(void **state)
{
	struct bench b = begin(state);

	take_lock(&b, 0, OBJECT + AT_WORD);
	access_to(&b, "read_member", OBJECT, OBJECT + AT_NUMBER, 4);
	name_all(&b, LIMIT_NS);
	assert_string_equal(b.p->locks[0].name, "outer->word.low");
	protection_free(b.p);
}

/* The namer looks each instruction up once, however many data it accesses. A full record takes less than the time limit. */
static void test_as_many_as_a_record_has(void **state)
{
	struct bench b = begin(state);
	struct lock_moment m = moment(&b, "read_member", 0, OBJECT, OBJECT + AT_NUMBER, 4);

	for (uint32_t i = 0; i < PROTECTION_ACCESSES_MAX; i++) {
		uint64_t object = OBJECT + (uint64_t)i * OBJECT_BYTES;

		m.number++;
		m.data[0].gva = object + AT_NUMBER;
		m.data[0].base.value = object;
		m.data[0].memory = slab_at(object, object + AT_NUMBER);
		take(&b, &m);
	}
	assert_int_equal(b.p->access_count, PROTECTION_ACCESSES_MAX);
	assert_true(name_all(&b, LIMIT_NS));
	for (uint32_t i = 0; i < PROTECTION_ACCESSES_MAX; i++)
		assert_string_equal(b.p->accesses[i].name, "outer->in[1].b[2]");
	protection_free(b.p);
}

/* When the time is over, the namer gives up and keeps the names that the record has. */
static void test_no_time(void **state)
{
	struct bench b = begin(state);

	access_to(&b, "read_member", OBJECT, OBJECT + AT_NUMBER, 4);
	assert_false(name_all(&b, 0));
	assert_string_equal(b.p->accesses[0].name, "kmalloc-192+0x40");
	protection_free(b.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_member_through_a_pointer),
		TEST(test_struct_inside_of_an_object),
		TEST(test_object_seen_once_through_a_pointer),
		TEST(test_cache_of_one_struct),
		TEST(test_each_life_has_its_own_types),
		TEST(test_types_that_disagree_say_nothing),
		TEST(test_struct_in_a_struct_agrees),
		TEST(test_inlined_function),
		TEST(test_struct_that_does_not_fit_its_object),
		TEST(test_site_of_another_function),
		TEST(test_what_the_guest_knows_stays),
		TEST(test_variable),
		TEST(test_lock_through_its_argument),
		TEST(test_lock_in_an_object_seen_through_a_pointer),
		TEST(test_as_many_as_a_record_has),
		TEST(test_no_time),
	};

	return cmocka_run_group_tests_name("gcc", tests, setup_gcc, teardown) |
	       cmocka_run_group_tests_name("clang", tests, setup_clang, teardown);
}
