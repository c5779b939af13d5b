// SPDX-License-Identifier: GPL-2.0-or-later
/* The chart of what is under which lock, joined from several records, and its outputs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "hv/export/locks.h"
#include "hv/report/locks/chart.h"
#include "symbols/insn/insn.h"

/* Two runs of one driver, whose addresses and indices have nothing to do with each other. */
struct run {
	struct protection p;
	struct prot_function functions[4];
	struct prot_lock locks[4];
	struct prot_access accesses[8];
	struct prot_take takes[2];
	struct suspicion suspicions[4];
};

struct bench {
	struct run runs[2];
	struct lock_record records[2];
	struct lock_chart chart;
};

enum { CONFIGURE, WATCHDOG, KERNEL };
enum { CB_LOCK, CMD_LOCK };

static void begin(struct run *r, struct lock_record *record)
{
	static const char *const functions[] = {"e100:e100_configure", "e100:e100_watchdog", "dev_get_stats"};
	static const char *const locks[] = {"nic.cb_lock", "nic.cmd_lock"};

	r->p = (struct protection){.functions = r->functions, .locks = r->locks, .accesses = r->accesses, .takes = r->takes};
	for (unsigned i = 0; i < 3; i++)
		snprintf(r->functions[r->p.function_count++].name, SITE_NAME_MAX, "%s", functions[i]);
	for (unsigned i = 0; i < 2; i++)
		snprintf(r->locks[r->p.lock_count++].name, sizeof(r->locks[0].name), "%s", locks[i]);
	record->protection = &r->p;
	record->suspicions.list = r->suspicions;
}

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	for (unsigned i = 0; i < 2; i++)
		begin(&b->runs[i], &b->records[i]);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	lock_chart_fini(&b->chart);
	free(b);
	return 0;
}

static struct prot_access *add(struct run *r, const char *name, uint32_t function, uint8_t rw, uint64_t count)
{
	struct prot_access *a = &r->accesses[r->p.access_count++];

	*a = (struct prot_access){.rw = rw, .function = function, .operation = function, .count = count, .count_shared = count};
	snprintf(a->name, sizeof(a->name), "%s", name);
	snprintf(a->site, sizeof(a->site), "f+0x%x", (unsigned)r->p.access_count);
	return a;
}

static struct prot_held *hold(struct prot_access *a, uint32_t lock)
{
	struct prot_held *h = &a->held[a->held_count++];

	*h = (struct prot_held){.lock = lock};
	return h;
}

static void suspect(struct bench *b, unsigned run, const char *id, int rank, enum confirm_state confirm)
{
	struct suspicions *list = &b->records[run].suspicions;
	struct suspicion *s = &list->list[list->count++];

	*s = (struct suspicion){.kind = SUSPICION_UNPROTECTED,
				.side = {0, 1},
				.rank = rank,
				.confirm = confirm,
				.reached = {3, 4},
				.held = 1,
				.total = 2};
	snprintf(s->id, sizeof(s->id), "%s", id);
	snprintf(s->text, sizeof(s->text), "nic.flags: run %u", run);
}

static void chart(struct bench *b, size_t runs, bool (*wanted)(const void *ctx, const char *function))
{
	struct err err = {0};

	lock_chart_fini(&b->chart);
	assert_int_equal(lock_chart_make(&b->chart, b->records, runs, wanted, NULL, &err), 0);
}

static void figure_one(struct run *r)
{
	hold(add(r, "nic.flags", CONFIGURE, INSN_WRITE, 412), CB_LOCK);
	add(r, "nic.flags", WATCHDOG, INSN_READ, 6);
}

static void test_a_datum_and_its_lock(void **state)
{
	struct bench *b = *state;
	const struct chart_datum *d;

	figure_one(&b->runs[0]);
	b->runs[0].accesses[1].count = 8;
	chart(b, 1, NULL);
	assert_int_equal(b->chart.count, 1);
	d = &b->chart.data[0];
	assert_string_equal(d->name, "nic.flags");
	assert_int_equal(d->owner_len, 3);
	assert_string_equal(d->lock, "nic.cb_lock");
	assert_int_equal(d->held, 412);
	assert_int_equal(d->total, 418);
	assert_int_equal(d->writes, 412);
	assert_int_equal(d->unshared, 2);
	assert_int_equal(d->missing_count, 1);
	assert_string_equal(d->missing[0].function, "e100:e100_watchdog");
	assert_int_equal(d->missing[0].count, 6);
}

static void test_runs_are_joined_by_names(void **state)
{
	struct bench *b = *state;
	struct run *other = &b->runs[1];

	figure_one(&b->runs[0]);
	/* The locks and functions of the other run stand in another order. */
	snprintf(other->locks[0].name, sizeof(other->locks[0].name), "nic.cmd_lock");
	snprintf(other->locks[1].name, sizeof(other->locks[1].name), "nic.cb_lock");
	hold(add(other, "nic.flags", CONFIGURE, INSN_READ, 8), 1);
	add(other, "nic.flags", WATCHDOG, INSN_READ, 2);
	add(other, "nic.id", WATCHDOG, INSN_READ, 2);
	chart(b, 2, NULL);
	assert_int_equal(b->chart.count, 2);
	assert_int_equal(b->chart.data[0].held, 420);
	assert_int_equal(b->chart.data[0].total, 428);
	assert_int_equal(b->chart.data[0].missing_count, 1);
	assert_int_equal(b->chart.data[0].missing[0].count, 8);
	assert_string_equal(b->chart.data[1].name, "nic.id");
	assert_string_equal(b->chart.data[1].lock, "");
}

static void test_the_lock_that_is_held_most(void **state)
{
	struct bench *b = *state;
	struct run *r = &b->runs[0];

	figure_one(r);
	hold(&r->accesses[0], CMD_LOCK);
	hold(&r->accesses[1], CMD_LOCK);
	chart(b, 1, NULL);
	assert_string_equal(b->chart.data[0].lock, "nic.cmd_lock");
	assert_int_equal(b->chart.data[0].held, 418);
	assert_int_equal(b->chart.data[0].missing_count, 0);
}

static void test_a_lock_that_does_not_protect(void **state)
{
	struct bench *b = *state;
	struct run *r = &b->runs[0];

	hold(add(r, "nic.flags", CONFIGURE, INSN_WRITE, 3), CB_LOCK)->shared = true;
	hold(add(r, "nic.flags", WATCHDOG, INSN_READ, 4), CB_LOCK)->shared = true;
	hold(add(r, "nic.flags", WATCHDOG, INSN_READ, 5), CB_LOCK)->maybe = true;
	chart(b, 1, NULL);
	assert_int_equal(b->chart.data[0].held, 4);
	assert_int_equal(b->chart.data[0].total, 12);
	assert_int_equal(b->chart.data[0].missing_count, 2);
}

static void test_members_stand_in_the_order_of_their_offsets(void **state)
{
	static const char *const names[] = {"my-cache+0x190", "my-cache+0x0", "disk->b", "disk->a", "my-cache+0x20"};
	static const char *const ordered[] = {"disk->a", "disk->b", "my-cache+0x0", "my-cache+0x20", "my-cache+0x190"};
	struct bench *b = *state;

	for (unsigned i = 0; i < 5; i++)
		add(&b->runs[0], names[i], CONFIGURE, INSN_READ, 1);
	chart(b, 1, NULL);
	for (unsigned i = 0; i < 5; i++) {
		assert_string_equal(b->chart.data[i].name, ordered[i]);
		assert_int_equal(b->chart.data[i].owner_len, i < 2 ? strlen("disk") : strlen("my-cache"));
	}
}

static bool of_e100(const void *ctx, const char *function)
{
	(void)ctx;
	return !strncmp(function, "e100:", 5);
}

static void test_only_wanted_functions(void **state)
{
	struct bench *b = *state;

	figure_one(&b->runs[0]);
	add(&b->runs[0], "nic.flags", KERNEL, INSN_READ, 100);
	add(&b->runs[0], "jiffies", KERNEL, INSN_READ, 100);
	chart(b, 1, of_e100);
	assert_int_equal(b->chart.count, 1);
	assert_int_equal(b->chart.data[0].total, 418);
}

static void test_suspicions_of_several_runs(void **state)
{
	struct bench *b = *state;

	for (unsigned i = 0; i < 2; i++)
		figure_one(&b->runs[i]);
	suspect(b, 0, "aaaaaaaaaaaa", 50, CONFIRM_GIVEN_UP);
	suspect(b, 0, "bbbbbbbbbbbb", 70, CONFIRM_NONE);
	suspect(b, 1, "aaaaaaaaaaaa", 40, CONFIRM_SEEN);
	b->records[0].suspicions.left_out[PROTECT_RCU] = 3;
	b->records[1].suspicions.left_out[PROTECT_RCU] = 4;
	chart(b, 2, NULL);
	assert_int_equal(b->chart.suspicion_count, 2);
	assert_string_equal(b->chart.suspicions[0].suspicion.id, "bbbbbbbbbbbb");
	assert_int_equal(b->chart.suspicions[1].suspicion.confirm, CONFIRM_SEEN);
	assert_string_equal(b->chart.suspicions[1].site[1], "f+0x2");
	assert_string_equal(b->chart.suspicions[1].lock, "nic.cb_lock");
	assert_int_equal(b->chart.left_out[PROTECT_RCU], 7);
}

/* Readers may hold another lock for the sake of something else. */
static void test_the_lock_of_the_writes(void **state)
{
	struct bench *b = *state;

	hold(add(&b->runs[0], "nic.flags", WATCHDOG, INSN_READ, 500), CMD_LOCK);
	figure_one(&b->runs[0]);
	chart(b, 1, NULL);
	assert_int_equal(b->chart.count, 1);
	assert_string_equal(b->chart.data[0].lock, "nic.cb_lock");
	assert_int_equal(b->chart.data[0].held, 412);
}

static void test_an_empty_record(void **state)
{
	struct bench *b = *state;

	chart(b, 2, NULL);
	assert_int_equal(b->chart.count, 0);
	assert_int_equal(b->chart.suspicion_count, 0);
}

/* ---- outputs ---- */

static char *output(struct bench *b, int (*export)(FILE *out, const struct export_locks *locks, struct err *err), bool all)
{
	static const char *const files[] = {"a.json", "b.json"};
	const struct export_locks locks = {
		.tool_version = "0", .chart = &b->chart, .files = files, .file_count = 2, .all = all};
	struct err err = {0};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(export(out, &locks, &err), 0);
	fclose(out);
	return text;
}

static void shown(struct bench *b)
{
	figure_one(&b->runs[0]);
	add(&b->runs[0], "nic.<id>", WATCHDOG, INSN_WRITE, 2);
	hold(add(&b->runs[0], "nic.mtu", CONFIGURE, INSN_READ, 9), CB_LOCK);
	suspect(b, 0, "aaaaaaaaaaaa", 50, CONFIRM_GIVEN_UP);
	chart(b, 1, NULL);
}

static void expect_in(char *text, const char *part, bool there)
{
	if ((strstr(text, part) != NULL) != there)
		fail_msg("%s is %sin\n%s", part, there ? "not " : "", text);
}

static void test_text(void **state)
{
	struct bench *b = *state;
	char *text;

	shown(b);
	text = output(b, export_locks_text, false);
	expect_in(text, "aaaaaaaaaaaa  rank 50  nic.flags: run 0\n              f+0x1  <->  f+0x2\n", true);
	expect_in(text, "not confirmed; vCPUs reached the sites 3 and 4 times\n", true);
	expect_in(text,
		  "\nnic\n  .flags                       nic.cb_lock held in 412 of 418 accesses; not in e100_watchdog() (6)\n",
		  true);
	expect_in(text, "data: 0 always under one lock, 1 sometimes, 1 under none, 1 only read (--all lists them)", true);
	expect_in(text, ".<id>", false);
	expect_in(text, ".mtu", false);
	free(text);
	text = output(b, export_locks_text, true);
	expect_in(text, "  .<id>                        no lock in 2 accesses, 2 of them writes\n", true);
	free(text);
}

static void test_html(void **state)
{
	struct bench *b = *state;
	char *text;

	shown(b);
	text = output(b, export_locks_html, true);
	expect_in(text, "&lt;id&gt;", true);
	expect_in(text, "<id>", false);
	expect_in(text, "412 of 418", true);
	free(text);
}

static void test_json(void **state)
{
	struct bench *b = *state;
	const char *schema, *name, *function, *confirm;
	json_t *document;
	char *text;
	int held, missing;

	shown(b);
	text = output(b, export_locks_json, false);
	document = json_loads(text, 0, NULL);
	assert_non_null(document);
	assert_int_equal(json_unpack(document, "{s:s, s:[{s:n}, {s:s, s:i, s:[{s:s, s:i}]}], s:[{s:{s:s}}]}", "schema", &schema,
				     "data", "lock", "name", &name, "held", &held, "missing", "function", &function, "count",
				     &missing, "suspicions", "proof", "state", &confirm),
			 0);
	assert_string_equal(schema, "outrider-locks/1");
	assert_string_equal(name, "nic.flags");
	assert_string_equal(confirm, "given-up");
	assert_string_equal(function, "e100:e100_watchdog");
	assert_int_equal(held, 412);
	assert_int_equal(missing, 6);
	json_decref(document);
	free(text);
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_a_datum_and_its_lock),
		T(test_runs_are_joined_by_names),
		T(test_the_lock_that_is_held_most),
		T(test_a_lock_that_does_not_protect),
		T(test_members_stand_in_the_order_of_their_offsets),
		T(test_only_wanted_functions),
		T(test_suspicions_of_several_runs),
		T(test_the_lock_of_the_writes),
		T(test_an_empty_record),
		T(test_text),
		T(test_html),
		T(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
