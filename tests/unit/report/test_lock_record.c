// SPDX-License-Identifier: GPL-2.0-or-later
/* The record of locks in a report, written, printed and read back. A wrong record gets a one-line error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "hv/base/rng.h"
#include "hv/report/json/load.h"
#include "hv/report/json/locks_json.h"
#include "tests/unit/report/lock_sample.h"
#include "tests/unit/report/sample.h"

#define MUTATIONS 3000

/* A report in a file, and the text that was printed. */
struct fixture {
	char file[64];
	char *printed;
	size_t len;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd;

	strcpy(f->file, "/tmp/test_report_locks.XXXXXX");
	fd = mkstemp(f->file);
	if (fd < 0)
		return -1;
	close(fd);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->file);
	free(f->printed);
	free(f);
	return 0;
}

static void keep_text(void *ctx, const char *text, size_t len)
{
	struct fixture *f = ctx;

	f->printed = realloc(f->printed, f->len + len + 1);
	memcpy(f->printed + f->len, text, len);
	f->len += len;
	f->printed[f->len] = '\0';
}

static void add_locks(struct report *r)
{
	struct suspicion list[2];
	struct suspicions s = {.list = list, .count = 2, .left_out = {[PROTECT_RCU] = 5, [PROTECT_APART] = 6}, .lost = 1};
	struct protection *p = sample_protection();

	sample_suspicions(list);
	p->lost = 9;
	assert_int_equal(report_locks(r, p, &s, NULL), 0);
	/* The report has copied the record, so both may go. */
	protection_free(p);
	memset(list, 0, sizeof(list));
}

static void write_report(struct fixture *f, bool locks)
{
	const struct detect_stats stats = {.sampling_ns = 2500000000};
	const struct report_config config = {.json = f->file, .print = keep_text, .print_ctx = f, .run = sample_run()};
	const struct report_kernel kernel = sample_kernel();
	struct observation *o = malloc(sizeof(*o));
	struct report *r = report_new(&config, NULL);

	assert_int_equal(report_set_kernel(r, &kernel, NULL), 0);
	sample_observation(o, 0);
	assert_int_equal(report_observe(r, o, NULL), 0);
	sample_observation(o, 0);
	o->sides[0].pc++;
	assert_int_equal(report_observe(r, o, NULL), 0);
	if (locks)
		add_locks(r);
	assert_int_equal(report_finish(r, &stats, "duration over", NULL), 0);
	report_free(r);
	free(o);
}

/* Check that both records have the same JSON. */
static void same_record(const struct lock_record *a, const struct protection *p, const struct suspicions *s)
{
	char *one = locks_json_text(a->protection, &a->suspicions), *other = locks_json_text(p, s);

	assert_string_equal(one, other);
	free(one);
	free(other);
}

static void check_access(const struct prot_access *read, const struct prot_access *wanted)
{
	assert_string_equal(read->site, wanted->site);
	assert_string_equal(read->name, wanted->name);
	assert_int_equal(read->gva, wanted->gva);
	assert_int_equal(read->rw, wanted->rw);
	assert_int_equal(read->in_rcu, wanted->in_rcu);
	assert_int_equal(read->held_count, wanted->held_count);
	assert_int_equal(read->held[0].off, wanted->held[0].off);
	assert_int_equal(read->operation, wanted->operation);
	assert_int_equal(read->count, wanted->count);
	assert_int_equal(read->count_shared, wanted->count_shared);
	assert_int_equal(read->who, wanted->who);
	assert_int_equal(read->first_ns, wanted->first_ns);
	assert_int_equal(read->last_ns, wanted->last_ns);
}

static void check_suspicion(const struct suspicion *read, const struct suspicion *wanted)
{
	assert_int_equal(read->kind, wanted->kind);
	assert_string_equal(read->id, wanted->id);
	assert_string_equal(read->text, wanted->text);
	assert_memory_equal(read->side, wanted->side, sizeof(read->side));
	assert_memory_equal(read->reached, wanted->reached, sizeof(read->reached));
	assert_int_equal(read->held, wanted->held);
	assert_int_equal(read->total, wanted->total);
	assert_int_equal(read->concurrent, wanted->concurrent);
	assert_int_equal(read->rank, wanted->rank);
	assert_int_equal(read->confirm, wanted->confirm);
}

static void what_is_written_is_read(void **state)
{
	struct fixture *f = *state;
	struct protection *p = sample_protection();
	struct suspicion list[2];
	const struct suspicions wanted = {
		.list = list, .count = 2, .left_out = {[PROTECT_RCU] = 5, [PROTECT_APART] = 6}, .lost = 1};
	struct lock_record record;
	struct err err = {0};

	sample_suspicions(list);
	p->lost = 9;
	write_report(f, true);
	assert_int_equal(json_locks_load(&record, f->file, &err), 0);
	same_record(&record, p, &wanted);
	assert_int_equal(record.protection->access_count, 2);
	assert_int_equal(record.suspicions.count, 2);
	for (unsigned i = 0; i < 2; i++) {
		check_access(&record.protection->accesses[i], &p->accesses[i]);
		check_suspicion(&record.suspicions.list[i], &list[i]);
	}
	assert_string_equal(record.protection->functions[0].name, "ext4:ext4_foo");
	assert_string_equal(record.protection->locks[0].name, "ext4_inode_cache+0x80");
	assert_int_equal(record.protection->take_count, 2);
	assert_true(protection_concurrent(record.protection, 0, 1));
	assert_false(protection_concurrent(record.protection, 0, 0));
	assert_int_equal(record.protection->lost, 9);
	assert_int_equal(record.suspicions.left_out[PROTECT_APART], 6);
	assert_int_equal(record.suspicions.lost, 1);
	lock_record_fini(&record);
	protection_free(p);
}

/* The report marks a race that was suspected before, and no other race. */
static void a_suspected_race_says_so(void **state)
{
	struct fixture *f = *state;
	struct report_load l;

	write_report(f, true);
	assert_int_equal(report_load(&l, f->file, NULL), 0);
	assert_int_equal(l.count, 2);
	assert_true(l.races[0]->suspected);
	assert_false(l.races[1]->suspected);
	report_load_free(&l);
}

static void people_read_suspicions_apart_from_races(void **state)
{
	struct fixture *f = *state;
	const char *section;

	write_report(f, true);
	section = strstr(f->printed, "SUSPICIONS  2, ");
	assert_non_null(section);
	assert_true(section < strstr(f->printed, "SUMMARY  2 races"));
	assert_non_null(strstr(section, "24fe57074e90 ext4_inode_cache+0x78: ext4_inode_cache+0x80 held in 2 of 3 accesses\n"));
	assert_non_null(strstr(section, "confirmed: it is race 24fe57074e90 now\n"));
	assert_non_null(strstr(section, "not tried to confirm\n"));
	assert_non_null(strstr(section, "5 under RCU, 6 of functions never seen at the same time\n"));
}

static void without_locks_nothing_is_said(void **state)
{
	struct fixture *f = *state;
	struct lock_record record;
	struct report_load l;
	struct err err = {0};

	write_report(f, false);
	assert_null(strstr(f->printed, "SUSPICIONS"));
	assert_int_equal(report_load(&l, f->file, NULL), 0);
	assert_null(l.locks.protection);
	assert_null(json_object_get(l.document, "locks"));
	report_load_free(&l);
	assert_int_equal(json_locks_load(&record, f->file, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "it has no record of locks"));
	assert_null(record.protection);
}

static void a_report_that_is_written_again_is_the_same(void **state)
{
	struct fixture *f = *state;
	json_t *before, *after;
	struct report_load l;
	FILE *out;

	write_report(f, true);
	before = json_load_file(f->file, 0, NULL);
	assert_int_equal(report_load(&l, f->file, NULL), 0);
	out = fopen(f->file, "w");
	assert_int_equal(report_load_write(&l, out, NULL, NULL, NULL), 0);
	assert_int_equal(fclose(out), 0);
	report_load_free(&l);
	after = json_load_file(f->file, 0, NULL);
	assert_true(json_equal(before, after));
	json_decref(before);
	json_decref(after);
}

/* ---- two sections in place of one step ---- */

static const struct section_pair two_sections = {.caller = 0xffffffffc0100000,
						 .caller_name = 1,
						 .caller_decides = true,
						 .two_locks = true,
						 .first = 0xffffffffc0100010,
						 .second = 0xffffffffc0100040,
						 .count = 100,
						 .waited = 3,
						 .in_row = 2,
						 .between = {{0xffffffff81200010, 7}}};

static const struct section_fate fates[2] = {{.pc = 0xffffffffc0100020,
					      .first = 0xffffffffc0100010,
					      .second = 0xffffffffc0100040,
					      .seen = 20,
					      .own = 1,
					      .moved = 4,
					      .acted = 3,
					      .reached = {5, 6},
					      .missed = {7, 8},
					      .own_bits = 0x80,
					      .moved_bits = 0x700},
					     {.pc = 0xffffffff81200020, .first = 0xffffffff81200010, .seen = 9}};

static const struct section_replay_instance one_copy = {
	.outcome = SECTION_OUTCOME_CONFIRMED,
	.trouble = "BUG: something",
	.difference_count = 9,
	.kept = 2,
	.differences = {{.serial = {.gpa = 0x7008, .gva = 0xffff888000007008, .len = 4, .bytes = {{1}, {2}}, .name = "len"},
			 .between = {3, 4}},
			{.serial = {.is_register = true, .side = 1, .len = 8, .name = "rax"}, .between = {9}}}};

/* A record with two locks, uses, and a pair of sections, which were run in a copy. Both accesses hold the first lock. */
static struct protection *steps_record(void)
{
	struct lock_moment moments[] = {sample_take(1, false), sample_access(2, true), sample_access(3, false)};
	struct protection *p = protection_new();

	moments[2].locks = moments[1].locks;
	moments[2].data[0].decides = true;
	moments[2].data[0].steps = true;
	moments[2].data[0].same_results = true;
	moments[1].data[0].stores_back = true;
	moments[2].data[0].bits = 0x2405;
	moments[2].data[0].check = (struct lock_check){true, 8, UINT64_C(0xffffffff81000010)};
	for (unsigned i = 0; i < 3; i++) {
		moments[i].locks.held[0].taken_at = i == 1 ? two_sections.first : two_sections.between[0].taken_at;
		assert_int_equal(protection_take(p, &moments[i], NULL), 0);
	}
	moments[0].number = 4;
	moments[0].lock.gva += 64;
	assert_int_equal(protection_take(p, &moments[0], NULL), 0);
	protection_name(p);
	assert_int_equal(protection_set_sections(p, &two_sections, 1, NULL), 0);
	assert_int_equal(protection_set_fates(p, fates, 2, NULL), 0);
	section_replay_count(protection_section_replay(p, two_sections.first, two_sections.second, 0xffffffff81200010),
			     &one_copy);
	return p;
}

static void write_steps(struct fixture *f, const struct protection *p, const struct suspicions *s)
{
	const struct detect_stats stats = {.sampling_ns = 2500000000};
	const struct report_config config = {.json = f->file, .print = keep_text, .print_ctx = f, .run = sample_run()};
	const struct report_kernel kernel = sample_kernel();
	struct report *r = report_new(&config, NULL);

	assert_int_equal(report_set_kernel(r, &kernel, NULL), 0);
	assert_int_equal(report_locks(r, p, s, NULL), 0);
	assert_int_equal(report_finish(r, &stats, "duration over", NULL), 0);
	report_free(r);
}

static void sections_are_written_and_read(void **state)
{
	struct fixture *f = *state;
	struct protection *p = steps_record();
	struct suspicion s = {.kind = SUSPICION_ATOMICITY,
			      .id = "0123456789ab",
			      .side = {0, 0},
			      .between = 1,
			      .pattern = ATOMICITY_HALF_DONE,
			      .held = 7,
			      .total = 100,
			      .second_lock = 1,
			      .caller = 2,
			      .replay = 1,
			      .verdict = SECTION_VERDICT_CONFIRMED,
			      .text = "len: half-done update in ext4_foo()"};
	const struct suspicions wanted = {
		.list = &s, .count = 1, .told = {[ATOMICITY_CLAIMED] = 4}, .told_text = {[ATOMICITY_CLAIMED] = "x in y()"}};
	struct lock_record record;
	struct err err = {0};

	write_steps(f, p, &wanted);
	assert_int_equal(json_locks_load(&record, f->file, &err), 0);
	same_record(&record, p, &wanted);
	assert_int_equal(record.protection->use_count, 2);
	assert_memory_equal(record.protection->uses, p->uses, 2 * sizeof(*p->uses));
	assert_true(record.protection->uses[1].decides);
	assert_true(record.protection->uses[1].steps);
	assert_true(record.protection->uses[1].same_results && !record.protection->uses[0].same_results);
	assert_true(record.protection->uses[0].stores_back && !record.protection->uses[1].stores_back);
	assert_int_equal(record.protection->uses[1].check.value, 8);
	assert_int_equal(record.protection->section_count, 1);
	assert_memory_equal(record.protection->sections, &two_sections, sizeof(two_sections));
	assert_int_equal(record.protection->uses[1].bits, 0x2405);
	assert_int_equal(record.protection->fate_count, 2);
	assert_memory_equal(record.protection->fates, fates, sizeof(fates));
	check_suspicion(&record.suspicions.list[0], &s);
	assert_int_equal(record.suspicions.list[0].between, 1);
	assert_int_equal(record.suspicions.list[0].second_lock, 1);
	assert_int_equal(record.suspicions.list[0].caller, 2);
	assert_int_equal(record.suspicions.list[0].pattern, ATOMICITY_HALF_DONE);
	assert_int_equal(record.suspicions.told[ATOMICITY_CLAIMED], 4);
	assert_string_equal(record.suspicions.told_text[ATOMICITY_CLAIMED], "x in y()");
	assert_int_equal(record.protection->section_replay_count, 1);
	assert_memory_equal(record.protection->section_replays, p->section_replays, sizeof(*p->section_replays));
	assert_int_equal(record.suspicions.list[0].replay, 1);
	assert_int_equal(record.suspicions.list[0].verdict, SECTION_VERDICT_CONFIRMED);
	lock_record_fini(&record);
	protection_free(p);
	assert_non_null(strstr(f->printed, "  0123456789ab len: half-done update in ext4_foo()\n"));
	assert_non_null(strstr(f->printed,
			       "\n               in between  generic_bar+0x33 uses the value\n               second      "));
	assert_non_null(
		strstr(f->printed, "the other section came in between; confirmed: the outcome is that of no serial order\n"));
	assert_non_null(strstr(f->printed,
			       "  told apart    4 pairs of sections on data that the first one claims, such as x in y()\n"));
}

static void refuse_steps(struct fixture *f, void (*change)(json_t *locks), const char *wanted)
{
	struct protection *p = steps_record();
	struct suspicion s = {.kind = SUSPICION_ATOMICITY, .id = "0123456789ab"};
	struct lock_record record;
	struct err err = {0};
	json_t *document;

	write_steps(f, p, &(struct suspicions){.list = &s, .count = 1});
	protection_free(p);
	document = json_load_file(f->file, 0, NULL);
	change(json_object_get(document, "locks"));
	assert_int_equal(json_dump_file(document, f->file, 0), 0);
	json_decref(document);
	assert_int_equal(json_locks_load(&record, f->file, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, wanted))
		fail_msg("\"%s\" says nothing of \"%s\"", err.text, wanted);
}

static json_t *first_of(json_t *locks, const char *list)
{
	return json_array_get(json_object_get(locks, list), 0);
}

static void between_nothing(json_t *locks)
{
	json_object_set_new(json_object_get(first_of(locks, "suspicions"), "between"), "index", json_integer(2));
}

static void no_between(json_t *locks)
{
	json_object_del(first_of(locks, "suspicions"), "between");
}

static void pattern_unknown(json_t *locks)
{
	json_object_set_new(first_of(locks, "suspicions"), "pattern", json_string("x"));
}

static void use_of_nothing(json_t *locks)
{
	json_object_set_new(first_of(locks, "uses"), "access", json_integer(2));
}

static void use_twice(json_t *locks)
{
	json_array_append(json_object_get(locks, "uses"), first_of(locks, "uses"));
}

static void too_many_between(json_t *locks)
{
	json_t *list = json_object_get(first_of(locks, "section_pairs"), "between");

	for (unsigned i = 0; i < SECTION_BETWEEN_MAX; i++)
		json_array_append(list, json_array_get(list, 0));
}

static void too_many_sections(json_t *locks)
{
	for (unsigned i = 0; i < SECTION_PAIRS_MAX; i++)
		json_array_append(json_object_get(locks, "section_pairs"), first_of(locks, "section_pairs"));
}

static void too_many_fates(json_t *locks)
{
	for (unsigned i = 0; i < SECTION_FATES_MAX; i++) {
		json_t *fate = json_deep_copy(first_of(locks, "section_fates"));

		json_object_set_new(fate, "pc", json_sprintf("0x%x", i + 1));
		json_array_append_new(json_object_get(locks, "section_fates"), fate);
	}
}

static void fate_twice(json_t *locks)
{
	json_array_append(json_object_get(locks, "section_fates"), first_of(locks, "section_fates"));
}

static void reached_once(json_t *locks)
{
	json_object_set_new(first_of(locks, "section_fates"), "reached", json_pack("[i]", 1));
}

static void missed_less_than_nothing(json_t *locks)
{
	json_object_set_new(first_of(locks, "section_fates"), "missed", json_pack("[i,i]", 1, -1));
}

/* It is 3 of the 20 cases, 4 of which changed in between. */
static void acted_and_moved(json_t *locks)
{
	json_object_set_new(first_of(locks, "section_fates"), "acted", json_integer(17));
}

static void fate_of_more_than_all(json_t *locks)
{
	json_object_set_new(first_of(locks, "section_fates"), "moved", json_integer(21));
}

static void reason_unknown(json_t *locks)
{
	json_object_set_new(locks, "told_apart", json_pack("[{s:s, s:i, s:s}]", "reason", "x", "count", 1, "example", "e"));
}

static void more_waits_than_cases(json_t *locks)
{
	json_object_set_new(first_of(locks, "section_pairs"), "waited", json_integer(101));
}

static void more_rows_than_cases(json_t *locks)
{
	json_object_set_new(first_of(locks, "section_pairs"), "in_row", json_integer(101));
}

static void replay_of_nothing(json_t *locks)
{
	json_object_set_new(first_of(locks, "suspicions"), "replay", json_pack("{s:i}", "index", 1));
}

static void replay_twice(json_t *locks)
{
	json_array_append(json_object_get(locks, "section_replays"), first_of(locks, "section_replays"));
}

static void confirmed_by_nothing(json_t *locks)
{
	json_object_set_new(first_of(locks, "section_replays"), "differences", json_array());
	json_object_set_new(first_of(locks, "section_replays"), "trouble", json_string(""));
}

static void wrong_sections_are_errors(void **state)
{
	struct fixture *f = *state;

	refuse_steps(f, replay_of_nothing, "suspicion 1 refers to an entry that does not exist");
	refuse_steps(f, replay_twice, "section replay 2: it is there twice");
	refuse_steps(f, confirmed_by_nothing, "differences");
	refuse_steps(f, between_nothing, "suspicion 1 refers to an entry that does not exist");
	refuse_steps(f, no_between, "between");
	refuse_steps(f, pattern_unknown, "pattern");
	refuse_steps(f, use_of_nothing, "use 1 refers to an entry that does not exist");
	refuse_steps(f, use_twice, "use 3: it is there twice");
	refuse_steps(f, too_many_between, "between");
	refuse_steps(f, too_many_sections, "more of these");
	refuse_steps(f, too_many_fates, "more of these");
	refuse_steps(f, fate_of_more_than_all, "moved");
	refuse_steps(f, fate_twice, "section fate 3: it is there twice");
	refuse_steps(f, acted_and_moved, "acted");
	refuse_steps(f, reached_once, "reached");
	refuse_steps(f, missed_less_than_nothing, "missed");
	refuse_steps(f, more_waits_than_cases, "waited");
	refuse_steps(f, more_rows_than_cases, "in_row");
	refuse_steps(f, reason_unknown, "reason");
}

/* ---- wrong records ---- */

/* Item `index` of the list named `list` in the record. */
static json_t *item_of(json_t *locks, const char *list, size_t index)
{
	return json_array_get(json_object_get(locks, list), index);
}

static void refuse(struct fixture *f, void (*change)(json_t *locks), const char *wanted)
{
	struct lock_record record;
	struct err err = {0};
	json_t *document;

	write_report(f, true);
	document = json_load_file(f->file, 0, NULL);
	change(json_object_get(document, "locks"));
	assert_int_equal(json_dump_file(document, f->file, 0), 0);
	json_decref(document);
	assert_int_equal(json_locks_load(&record, f->file, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, wanted))
		fail_msg("\"%s\" says nothing of \"%s\"", err.text, wanted);
	assert_null(record.protection);
	assert_null(record.suspicions.list);
}

static void lock_that_is_not_there(json_t *locks)
{
	json_object_set_new(json_array_get(json_object_get(item_of(locks, "accesses", 0), "held"), 0), "lock", json_integer(1));
}

static void function_that_is_not_there(json_t *locks)
{
	json_object_set_new(item_of(locks, "accesses", 1), "operation", json_integer(2));
}

static void pair_of_nothing(json_t *locks)
{
	json_object_set_new(item_of(locks, "pairs", 0), "b", json_integer(77));
}

static void take_of_nothing(json_t *locks)
{
	json_object_set_new(item_of(locks, "takes", 1), "lock", json_integer(1));
}

static void side_that_is_not_there(json_t *locks)
{
	json_t *side = json_array_get(json_object_get(item_of(locks, "suspicions", 0), "sides"), 1);

	json_object_set_new(side, "index", json_integer(2));
}

static void no_functions(json_t *locks)
{
	json_array_clear(json_object_get(locks, "functions"));
}

static void twice(json_t *locks)
{
	json_t *list = json_object_get(locks, "accesses");

	json_array_append(list, json_array_get(list, 0));
}

static void too_many_held(json_t *locks)
{
	json_t *list = json_object_get(item_of(locks, "accesses", 0), "held");

	for (int i = 0; i < LOCKSET_MAX; i++)
		json_array_append(list, json_array_get(list, 0));
}

static void kind_unknown(json_t *locks)
{
	json_object_set_new(item_of(locks, "locks", 0), "kind", json_string("big"));
}

static void negative_count(json_t *locks)
{
	json_object_set_new(item_of(locks, "accesses", 0), "count", json_integer(-1));
}

static void no_confirm(json_t *locks)
{
	json_object_del(item_of(locks, "suspicions", 1), "proof");
}

static void wrong_id(json_t *locks)
{
	json_object_set_new(item_of(locks, "suspicions", 1), "id", json_string("24fe57074e9"));
}

static void number_for_a_list(json_t *locks)
{
	json_object_set_new(locks, "takes", json_integer(1));
}

static void function_that_is_a_number(json_t *locks)
{
	json_array_set_new(json_object_get(locks, "functions"), 0, json_integer(1));
}

static void what_is_no_record_is_refused(void **state)
{
	refuse(*state, lock_that_is_not_there, "locks: access 1 refers to an entry that does not exist");
	refuse(*state, function_that_is_not_there, "locks: access 2 refers to");
	refuse(*state, pair_of_nothing, "locks: pair 1");
	refuse(*state, take_of_nothing, "locks: take 2 refers to");
	refuse(*state, side_that_is_not_there, "locks: suspicion 1 refers to");
	refuse(*state, no_functions, "locks: access 1 refers to");
	refuse(*state, twice, "locks: access 3: it is there twice");
	refuse(*state, too_many_held, "locks: access 1: \"held\"");
	refuse(*state, kind_unknown, "locks: lock 1: \"kind\"");
	refuse(*state, negative_count, "locks: access 1: \"count\"");
	refuse(*state, no_confirm, "locks: suspicion 2: \"proof\"");
	refuse(*state, wrong_id, "locks: suspicion 2: \"id\"");
	refuse(*state, number_for_a_list, "'[' expected");
	refuse(*state, function_that_is_a_number, "locks: function 1: \"name\"");
}

static char *text_of_file(const struct fixture *f, size_t *len)
{
	FILE *file = fopen(f->file, "r");
	char *text = malloc(1 << 20);

	*len = fread(text, 1, (1 << 20) - 1, file);
	text[*len] = '\0';
	fclose(file);
	return text;
}

/* For any damage of the record, the reader returns a usable record or a one-line error. The sanitizers check both. */
static void test_mutated_records(void **state)
{
	struct fixture *f = *state;
	struct rng rng = {1};
	size_t len, refused = 0, from, to;
	char *text, *copy;

	write_report(f, true);
	text = text_of_file(f, &len);
	from = (size_t)(strstr(text, "\"locks\": {\"moments\"") - text);
	to = (size_t)(strstr(text + from, "\"left_out\"") - text);
	copy = malloc(len);
	for (int i = 0; i < MUTATIONS; i++) {
		struct lock_record record;
		struct err err = {0};
		FILE *file = fopen(f->file, "w");

		memcpy(copy, text, len);
		for (uint64_t n = 1 + rng_below(&rng, 2); n; n--)
			copy[from + rng_below(&rng, to - from)] = (char)(' ' + rng_below(&rng, 95));
		fwrite(copy, 1, len, file);
		fclose(file);
		if (json_locks_load(&record, f->file, &err) < 0) {
			assert_int_equal(err.code, EXIT_INPUT);
			refused++;
		} else {
			char *again = locks_json_text(record.protection, &record.suspicions);

			assert_non_null(again);
			free(again);
		}
		lock_record_fini(&record);
	}
	assert_true(refused > MUTATIONS / 10 && refused < MUTATIONS);
	free(copy);
	free(text);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_is_written_is_read),
		T(a_suspected_race_says_so),
		T(people_read_suspicions_apart_from_races),
		T(without_locks_nothing_is_said),
		T(a_report_that_is_written_again_is_the_same),
		T(sections_are_written_and_read),
		T(wrong_sections_are_errors),
		T(what_is_no_record_is_refused),
		T(test_mutated_records),
	};

	return cmocka_run_group_tests_name("report_lock_record", tests, NULL, NULL);
}
