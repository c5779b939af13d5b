// SPDX-License-Identifier: GPL-2.0-or-later
/* The guest's log, read from a ring buffer of printk() that this test writes into guest memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_log.h"
#include "tests/unit/symbols/btf_maker.h"
#include "tests/unit/target/fake_target.h"

#define BASE 0xffffffff81000000ull
#define BASE_GPA 0x300000ull
#define SIZE 0x8000ull

/* Offsets from BASE: the pointer `prb`, the ring's struct, the descriptors, their facts, and the text. */
enum { PRB_AT = 0x100, RING_AT = 0x200, DESCS_AT = 0x1000, INFOS_AT = 0x2000, DATA_AT = 0x4000 };
/* Offsets in struct printk_ringbuffer. */
enum { COUNT_BITS_AT = 0, DESCS_P_AT = 8, INFOS_P_AT = 16, HEAD_AT = 24, SIZE_BITS_AT = 48, DATA_P_AT = 56 };
enum { DESC_SIZE = 24, INFO_SIZE = 88 };
enum { COUNT_BITS = 3, SIZE_BITS = 8 };
enum { RESERVED = 0, COMMITTED = 1, FINALIZED = 2, REUSABLE = 3 };

#define ID_MASK ((1ull << 62) - 1)
#define FIRST_ID ((0 - (1ull << COUNT_BITS) - 1) & ID_MASK) /* DESC0_ID */

struct lines {
	struct fake_target *ft;
	struct guest *g;
	uint64_t head, lpos, seq;
	struct linux_log_position at;
	struct linux_log_record got[64];
	unsigned count;
};

static const struct symbol symbols[] = {{.name = "prb", .addr = BASE + PRB_AT, .size = 8, .type = 'd'}};

static void put64(struct lines *l, uint64_t at, uint64_t value)
{
	fake_write(l->ft, BASE_GPA + at, &value, sizeof(value));
}

static struct btf *make_types(void)
{
	struct btf_maker m = {0};
	uint32_t u8 = make_int(&m, "u8", 1), u16 = make_int(&m, "u16", 2), u32 = make_int(&m, "u32", 4),
		 u64 = make_int(&m, "u64", 8), desc_ring, data_ring, lpos;
	struct btf *btf;
	struct blob b;

	desc_ring = make_type(&m, "prb_desc_ring", BTF_STRUCT, 4, 48);
	make_field(&m, "count_bits", u32, COUNT_BITS_AT * 8);
	make_field(&m, "descs", u64, DESCS_P_AT * 8);
	make_field(&m, "infos", u64, INFOS_P_AT * 8);
	make_field(&m, "head_id", u64, HEAD_AT * 8);
	data_ring = make_type(&m, "prb_data_ring", BTF_STRUCT, 2, 32);
	make_field(&m, "size_bits", u32, 0);
	make_field(&m, "data", u64, 8 * 8);
	make_type(&m, "printk_ringbuffer", BTF_STRUCT, 2, 88);
	make_field(&m, "desc_ring", desc_ring, 0);
	make_field(&m, "text_data_ring", data_ring, SIZE_BITS_AT * 8);
	lpos = make_type(&m, "prb_data_blk_lpos", BTF_STRUCT, 2, 16);
	make_field(&m, "begin", u64, 0);
	make_field(&m, "next", u64, 64);
	make_type(&m, "prb_desc", BTF_STRUCT, 2, DESC_SIZE);
	make_field(&m, "state_var", u64, 0);
	make_field(&m, "text_blk_lpos", lpos, 64);
	make_type(&m, "printk_info", BTF_STRUCT, 5, INFO_SIZE);
	make_field(&m, "seq", u64, 0);
	make_field(&m, "ts_nsec", u64, 64);
	make_field(&m, "text_len", u16, 128);
	make_field(&m, "facility", u8, 144);
	make_field(&m, "caller_id", u32, 160);
	b = make_btf(&m);
	btf = btf_parse(b.bytes, b.len, NULL);
	assert_non_null(btf);
	blob_free(&b);
	make_free(&m);
	return btf;
}

static int setup(void **state)
{
	struct lines *l = calloc(1, sizeof(*l));

	*state = l;
	l->ft = fake_target_new(1, 4);
	l->g = l->ft ? guest_new(&l->ft->target, NULL, NULL, NULL) : NULL;
	if (!l->g)
		return -1;
	l->g->cr3 = fake_page(l->ft);
	fake_map(l->ft, l->g->cr3, 4, BASE, BASE_GPA, SIZE, 12);
	put64(l, PRB_AT, BASE + RING_AT);
	put64(l, RING_AT + COUNT_BITS_AT, COUNT_BITS);
	put64(l, RING_AT + DESCS_P_AT, BASE + DESCS_AT);
	put64(l, RING_AT + INFOS_P_AT, BASE + INFOS_AT);
	put64(l, RING_AT + SIZE_BITS_AT, SIZE_BITS);
	put64(l, RING_AT + DATA_P_AT, BASE + DATA_AT);
	l->head = FIRST_ID;
	l->lpos = 0 - (1ull << SIZE_BITS); /* BLK0_LPOS */
	put64(l, RING_AT + HEAD_AT, l->head);
	l->g->symtab = symtab_from_array(symbols, 1, NULL);
	l->g->btf = make_types();
	l->g->stage = LINUX_READY;
	linux_find_log(l->g, &l->g->log);
	assert_int_equal(l->g->log.ring, BASE + RING_AT);
	return l->g->symtab ? 0 : -1;
}

static int teardown(void **state)
{
	struct lines *l = *state;

	guest_free(l->g);
	fake_target_free(l->ft);
	free(l);
	return 0;
}

static void set_state(struct lines *l, uint64_t id, uint64_t value)
{
	put64(l, DESCS_AT + (id & ((1u << COUNT_BITS) - 1)) * DESC_SIZE, value << 62 | id);
}

/* Reserve a record and write its text, as prb_reserve() and data_alloc() do. Returns its id. */
static uint64_t write_record(struct lines *l, const char *text, unsigned state)
{
	const uint64_t size = 1ull << SIZE_BITS, need = (8 + strlen(text) + 7) & ~7ull;
	uint64_t id = l->head = (l->head + 1) & ID_MASK, slot = id & ((1u << COUNT_BITS) - 1), begin = l->lpos,
		 next = begin + need;
	uint64_t block = begin & (size - 1);

	if (begin >> SIZE_BITS != (next - 1) >> SIZE_BITS) { /* it wraps: the block lies at the beginning */
		next = (next & ~(size - 1)) + need;
		block = 0;
	}
	put64(l, DESCS_AT + slot * DESC_SIZE + 8, begin);
	put64(l, DESCS_AT + slot * DESC_SIZE + 16, next);
	put64(l, DATA_AT + block, id);
	fake_write(l->ft, BASE_GPA + DATA_AT + block + 8, text, strlen(text));
	put64(l, INFOS_AT + slot * INFO_SIZE, l->seq);
	put64(l, INFOS_AT + slot * INFO_SIZE + 8, 1000 + l->seq);
	put64(l, INFOS_AT + slot * INFO_SIZE + 16, strlen(text) | 7ull << 32);
	l->seq++;
	l->lpos = next;
	set_state(l, id, state);
	put64(l, RING_AT + HEAD_AT, id);
	return id;
}

static void on_record(void *ctx, const struct linux_log_record *r)
{
	struct lines *l = ctx;

	assert_in_range(l->count, 0, 63);
	l->got[l->count++] = *r;
}

static void poll_log(struct lines *l)
{
	l->count = 0;
	linux_read_log(l->g, &l->at, on_record, l);
}

static void expect(const struct lines *l, unsigned i, const char *text)
{
	assert_in_range(i, 0, l->count - 1);
	assert_int_equal(l->got[i].len, strlen(text));
	assert_memory_equal(l->got[i].text, text, strlen(text));
}

static void test_new_records(void **state)
{
	struct lines *l = *state;

	write_record(l, "before the first call", FINALIZED);
	poll_log(l);
	assert_int_equal(l->count, 0);
	write_record(l, "one", FINALIZED);
	write_record(l, "two", FINALIZED);
	poll_log(l);
	assert_int_equal(l->count, 2);
	expect(l, 0, "one");
	expect(l, 1, "two");
	assert_int_equal(l->got[1].seq, 2);
	assert_int_equal(l->got[1].ts_ns, 1002);
	assert_int_equal(l->got[1].caller, 7);
	poll_log(l);
	assert_int_equal(l->count, 0);
}

/* Ids pass 0, and blocks of text lie across the end of the ring. */
static void test_wrapping(void **state)
{
	struct lines *l = *state;
	char text[64];

	poll_log(l);
	for (unsigned i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "record %u %.*s", i, (int)(i % 23), "abcdefghijklmnopqrstuvwxyz");
		write_record(l, text, FINALIZED);
		poll_log(l);
		assert_int_equal(l->count, 1);
		expect(l, 0, text);
	}
}

static void test_unfinished_record_is_waited_for(void **state)
{
	struct lines *l = *state;
	uint64_t id;

	poll_log(l);
	id = write_record(l, "one", RESERVED);
	write_record(l, "two", FINALIZED);
	poll_log(l);
	assert_int_equal(l->count, 0);
	set_state(l, id, COMMITTED);
	poll_log(l);
	assert_int_equal(l->count, 0);
	set_state(l, id, FINALIZED);
	poll_log(l);
	assert_int_equal(l->count, 2);
	expect(l, 0, "one");
}

static void test_overwritten_records_are_skipped(void **state)
{
	struct lines *l = *state;

	poll_log(l);
	for (unsigned i = 0; i < 20; i++)
		write_record(l, i == 19 ? "last" : "lost", FINALIZED);
	poll_log(l);
	assert_int_equal(l->count, 1u << COUNT_BITS);
	expect(l, l->count - 1, "last");
}

/* Whatever the guest writes into its ring, reading ends, and stays inside of the ring. */
static void test_hostile_ring(void **state)
{
	struct lines *l = *state;
	uint64_t id;

	poll_log(l);
	id = write_record(l, "one", FINALIZED);
	for (unsigned i = 0; i < 64; i++) {
		uint64_t slot = id & ((1u << COUNT_BITS) - 1);

		l->at.next_id = id;
		put64(l, DESCS_AT + slot * DESC_SIZE + 8, 1ull << i);
		put64(l, DESCS_AT + slot * DESC_SIZE + 16, ~0ull >> i);
		put64(l, INFOS_AT + slot * INFO_SIZE + 16, 0xffff);
		poll_log(l);
		for (unsigned n = 0; n < l->count; n++)
			assert_in_range(l->got[n].len, 0, 1u << SIZE_BITS);
		put64(l, RING_AT + HEAD_AT, 1ull << i);
		poll_log(l);
		put64(l, RING_AT + HEAD_AT, id);
	}
}

static void test_no_log(void **state)
{
	static const uint64_t at[] = {PRB_AT, RING_AT + COUNT_BITS_AT, RING_AT + SIZE_BITS_AT, RING_AT + DESCS_P_AT,
				      RING_AT + DATA_P_AT};
	static const uint64_t bad[] = {0, 25, 31, 0x1000, 8};
	struct lines *l = *state;
	struct linux_log log;

	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++) {
		uint64_t old;

		memcpy(&old, l->ft->ram + BASE_GPA + at[i], sizeof(old));
		put64(l, at[i], bad[i]);
		linux_find_log(l->g, &log);
		assert_int_equal(log.ring, 0);
		put64(l, at[i], old);
	}
	linux_find_log(l->g, &log);
	assert_int_not_equal(log.ring, 0);
}

static void on_complaint(void *ctx, const struct complaint *c)
{
	struct complaint *out = ctx;

	*out = *c;
}

/* What a program writes to /dev/kmsg is in the same log. */
static void test_programs_do_not_complain(void **state)
{
	struct lines *l = *state;
	struct complaint c = {0};
	uint64_t id;

	assert_true(guest_poll_complaints(l->g, false, on_complaint, &c));
	id = write_record(l, "Oops: said a program", RESERVED);
	put64(l, INFOS_AT + (id & ((1u << COUNT_BITS) - 1)) * INFO_SIZE + 16, 20 | 1u << 16 | 7ull << 32);
	set_state(l, id, FINALIZED);
	assert_true(guest_poll_complaints(l->g, true, on_complaint, &c));
	assert_int_equal(c.kind, COMPLAINT_NONE);
	write_record(l, "Oops: said the kernel", FINALIZED);
	assert_true(guest_poll_complaints(l->g, true, on_complaint, &c));
	assert_int_equal(c.kind, COMPLAINT_OOPS);
}

static void test_complaints(void **state)
{
	struct lines *l = *state;
	struct complaint c = {0};

	assert_true(guest_poll_complaints(l->g, false, on_complaint, &c));
	write_record(l, "BUG: unable to handle page fault for address: ffff888000000010", FINALIZED);
	write_record(l, "RIP: 0010:a+0x1/0x2\nCode: <cc>", FINALIZED);
	assert_true(guest_poll_complaints(l->g, false, on_complaint, &c));
	assert_int_equal(c.kind, COMPLAINT_NONE);
	assert_true(guest_poll_complaints(l->g, true, on_complaint, &c));
	assert_int_equal(c.kind, COMPLAINT_OOPS);
	assert_int_equal(c.address, 0xffff888000000010);
	assert_string_equal(c.where.text, "a+0x1/0x2");
	assert_string_equal(c.code, "<cc>");
	l->g->log.ring = 0;
	assert_false(guest_poll_complaints(l->g, true, on_complaint, &c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_new_records, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrapping, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unfinished_record_is_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overwritten_records_are_skipped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_log, setup, teardown),
		cmocka_unit_test_setup_teardown(test_programs_do_not_complain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_complaints, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
