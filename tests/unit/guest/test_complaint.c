// SPDX-License-Identifier: GPL-2.0-or-later
/* Complaints in the lines of a kernel's log. The logs are those of stock kernels, shortened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hv/guest/linux_complaint.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define FOUND_MAX 8
#define TASK 77u /* a caller of printk() */

struct found {
	struct complaint list[FOUND_MAX];
	unsigned count;
	struct linux_complaints collector;
};

static void on_found(void *ctx, const struct complaint *c)
{
	struct found *f = ctx;

	assert_in_range(f->count, 0, FOUND_MAX - 1);
	f->list[f->count++] = *c;
}

/* Read a log of lines. Lines that begin with '!' are another caller's. */
static void read_log(struct found *f, const char *log)
{
	while (*log) {
		const char *newline = strchr(log, '\n');
		size_t len = newline ? (size_t)(newline - log) : strlen(log);
		bool other = *log == '!';

		linux_complaints_line(&f->collector, 1000, other ? TASK + 1 : TASK, log + other, len - other, on_found, f);
		log += len + (newline != NULL);
	}
}

static void read_whole_log(struct found *f, const char *log)
{
	*f = (struct found){0};
	read_log(f, log);
	linux_complaints_finish(&f->collector, on_found, f);
}

static const char oops[] =
	"BUG: kernel NULL pointer dereference, address: 0000000000000008\n"
	"#PF: supervisor read access in kernel mode\n"
	"#PF: error_code(0x0000) - not-present page\n"
	"!BUG of nobody\n"
	"PGD 0 P4D 0 \n"
	"Oops: 0000 [#1] PREEMPT SMP NOPTI\n"
	"CPU: 1 PID: 77 Comm: a worker Tainted: G           OE      6.1.0-56-cloud-amd64 #1  Debian 6.1.176-1\n"
	"Hardware name: outrider\n"
	"RIP: 0010:gt_null_use+0x18/0x40 [outrider_gt]\n"
	"Code: 90 cc 48 8b 05 <8b> 40 08 c3\n"
	"RSP: 0018:ffffa90000123e48 EFLAGS: 00010246\n"
	"Call Trace:\n"
	" <TASK>\n"
	" ? __die_body.cold+0x1a/0x1f\n"
	" gt_thread+0x55/0xa0 [outrider_gt]\n"
	" kthread+0xd7/0x100\n"
	"!another task speaks\n"
	" </TASK>\n"
	"Modules linked in: outrider_gt(OE)\n"
	"CR2: 0000000000000008\n"
	"---[ end trace 0000000000000000 ]---\n"
	"RIP: 0010:gt_null_use+0x18/0x40 [outrider_gt]\n";

static void test_oops(void **state)
{
	struct found f;
	const struct complaint *c = f.list;

	(void)state;
	read_whole_log(&f, oops);
	assert_int_equal(f.count, 1);
	assert_int_equal(c->kind, COMPLAINT_OOPS);
	assert_string_equal(c->text, "BUG: kernel NULL pointer dereference, address: 0000000000000008");
	assert_true(c->fatal);
	assert_true(c->address_known);
	assert_int_equal(c->address, 8);
	assert_int_equal(c->cpu, 1);
	assert_int_equal(c->pid, 77);
	assert_string_equal(c->comm, "a worker");
	assert_string_equal(c->where.text, "gt_null_use+0x18/0x40 [outrider_gt]");
	assert_string_equal(c->where.function, "gt_null_use");
	assert_string_equal(c->where.module, "outrider_gt");
	assert_int_equal(c->where.offset, 0x18);
	assert_string_equal(c->code, "90 cc 48 8b 05 <8b> 40 08 c3");
	assert_int_equal(c->frame_count, 2);
	assert_string_equal(c->frames[0].text, "gt_thread+0x55/0xa0 [outrider_gt]");
	assert_string_equal(c->frames[1].function, "kthread");
	assert_int_equal(c->log_ns, 1000);
}

static void test_complaint_is_found_when_its_last_line_came(void **state)
{
	struct found f = {0};

	(void)state;
	read_log(&f, oops);
	assert_int_equal(f.count, 1);
}

static const struct {
	const char *log;
	enum complaint_kind kind;
	bool fatal;
	const char *text, *where;
} cases[] = {
	{"------------[ cut here ]------------\n"
	 "refcount_t: underflow; use-after-free.\n"
	 "WARNING: CPU: 0 PID: 5 at lib/refcount.c:28 refcount_warn_saturate+0xba/0x110\n",
	 COMPLAINT_REFCOUNT, false, "refcount_t: underflow; use-after-free.", "refcount_warn_saturate+0xba/0x110"},
	{"list_del corruption. next->prev should be ffff888, but was dead000000000122\n"
	 "------------[ cut here ]------------\n"
	 "kernel BUG at lib/list_debug.c:54!\n"
	 "invalid opcode: 0000 [#1] PREEMPT SMP\n"
	 "CPU: 1 UID: 0 PID: 9 Comm: x Not tainted 6.12.0\n"
	 "RIP: 0010:__list_del_entry_valid.cold+0xf/0x6f\n",
	 COMPLAINT_LIST, true, "list_del corruption. next->prev should be ffff888, but was dead000000000122",
	 "__list_del_entry_valid.cold+0xf/0x6f"},
	{"------------[ cut here ]------------\n"
	 "dev_watchdog: queue 0 timed out\n"
	 "WARNING: CPU: 1 PID: 0 at net/sched/sch_generic.c:525 dev_watchdog+0x224/0x230\n",
	 COMPLAINT_WARNING, false, "dev_watchdog: queue 0 timed out", "dev_watchdog+0x224/0x230"},
	{"------------[ cut here ]------------\n"
	 "WARNING: CPU: 1 PID: 0 at kernel/fork.c:1 copy_process+0x24/0x30\n",
	 COMPLAINT_WARNING, false, "WARNING: CPU: 1 PID: 0 at kernel/fork.c:1 copy_process+0x24/0x30",
	 "copy_process+0x24/0x30"},
	{"WARNING: kernel/fork.c:1 at copy_process+0x24/0x30, CPU#1: x/12\n", COMPLAINT_WARNING, false,
	 "WARNING: kernel/fork.c:1 at copy_process+0x24/0x30, CPU#1: x/12", "copy_process+0x24/0x30"},
	{"general protection fault, probably for non-canonical address 0xdead000000000108: 0000 [#1] SMP\n"
	 "RIP: 0010:a+0x1/0x2\n",
	 COMPLAINT_OOPS, true, "general protection fault, probably for non-canonical address 0xdead000000000108: 0000 [#1] SMP",
	 "a+0x1/0x2"},
	{"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [x:12]\n"
	 "RIP: 0010:queued_spin_lock_slowpath+0x5/0x1b0\n",
	 COMPLAINT_LOCKUP, false, "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [x:12]",
	 "queued_spin_lock_slowpath+0x5/0x1b0"},
	{"INFO: task x:12 blocked for more than 120 seconds.\n", COMPLAINT_HUNG_TASK, false,
	 "INFO: task x:12 blocked for more than 120 seconds.", ""},
	{"rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:\n", COMPLAINT_LOCKUP, false,
	 "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", ""},
	{"BUG kmalloc-32 (Not tainted): Object already free\n", COMPLAINT_SLAB, false,
	 "BUG kmalloc-32 (Not tainted): Object already free", ""},
	{"BUG: KASAN: slab-use-after-free in a+0x1/0x2\n", COMPLAINT_SANITIZER, false,
	 "BUG: KASAN: slab-use-after-free in a+0x1/0x2", ""},
	{"Kernel panic - not syncing: stack-protector: Kernel stack is corrupted in: a+0x1/0x2\n", COMPLAINT_STACK_PROTECTOR,
	 true, "Kernel panic - not syncing: stack-protector: Kernel stack is corrupted in: a+0x1/0x2", "a+0x1/0x2"},
	{"Kernel panic - not syncing: Fatal exception\n", COMPLAINT_PANIC, true, "Kernel panic - not syncing: Fatal exception",
	 ""},
	{"WARNING: possible circular locking dependency detected\n", COMPLAINT_LOCKDEP, false,
	 "WARNING: possible circular locking dependency detected", ""},
	{"BUG: scheduling while atomic: x/12/0x00000002\n", COMPLAINT_BUG, false,
	 "BUG: scheduling while atomic: x/12/0x00000002", ""},
};

static void test_kinds(void **state)
{
	struct found f;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		read_whole_log(&f, cases[i].log);
		if (f.count != 1 || f.list[0].kind != cases[i].kind || f.list[0].fatal != cases[i].fatal)
			fail_msg("%s: %u complaints, the first is %s", cases[i].log, f.count, complaint_word(f.list[0].kind));
		assert_string_equal(f.list[0].text, cases[i].text);
		assert_string_equal(f.list[0].where.text, cases[i].where);
		assert_int_equal(complaint_kind_of(complaint_word(f.list[0].kind)), f.list[0].kind);
	}
}

static void test_a_hung_task_is_the_one_that_waits(void **state)
{
	struct found f;

	(void)state;
	read_whole_log(&f, "INFO: task a b:c:12 blocked for more than 2 seconds.\n"
			   "      Tainted: G           OE      6.1.0-56-cloud-amd64 #1 Debian 6.1.192-2\n"
			   "task:a b:c           state:D stack:0     pid:12    ppid:1      flags:0x00000000\n"
			   "Call Trace:\n"
			   " <TASK>\n"
			   " __schedule+0x34d/0x9e0\n"
			   " gt_complain_hung+0x12/0x20 [outrider_gt]\n"
			   " </TASK>\n");
	assert_int_equal(f.count, 1);
	assert_string_equal(f.list[0].comm, "a b:c");
	assert_int_equal(f.list[0].pid, 12);
	assert_int_equal(f.list[0].cpu, -1);
	assert_int_equal(f.list[0].frame_count, 2);
	assert_string_equal(f.list[0].frames[1].function, "gt_complain_hung");
}

static void test_address_of_a_general_protection_fault(void **state)
{
	struct found f;

	(void)state;
	read_whole_log(&f, cases[5].log);
	assert_true(f.list[0].address_known);
	assert_int_equal(f.list[0].address, 0xdead000000000108);
}

static void test_no_complaint(void **state)
{
	static const char *const lines[] = {"traps: x[12] general protection fault ip:1 sp:2 error:0\n",
					    "INFO: task x is fine\n",
					    "WARNING: a driver is old\n",
					    "x: BUG: is a word\n",
					    "BUG in my program\n",
					    "watchdog: enabled\n",
					    " Oops\n",
					    "------------[ cut here ]------------\n",
					    "---[ end trace 0000000000000000 ]---\n"};
	struct found f;

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		read_whole_log(&f, lines[i]);
		if (f.count)
			fail_msg("%s is called %s", lines[i], complaint_word(f.list[0].kind));
	}
}

/* Two tasks complain at the same time: neither complaint has lines of the other task. */
static void test_two_callers(void **state)
{
	struct found f;

	(void)state;
	read_whole_log(&f, "BUG: kernel NULL pointer dereference, address: 0000000000000008\n"
			   "!WARNING: CPU: 0 PID: 5 at a.c:1 other+0x1/0x2\n"
			   "RIP: 0010:first+0x1/0x2\n"
			   "!CPU: 0 PID: 5 Comm: y Not tainted 6.1\n");
	assert_int_equal(f.count, 2);
	assert_int_equal(f.list[0].kind, COMPLAINT_OOPS);
	assert_string_equal(f.list[0].where.text, "");
	assert_string_equal(f.list[1].where.text, "other+0x1/0x2");
	assert_string_equal(f.list[1].comm, "y");
}

/* Another task speaks between the lines of a warning, and warns itself. */
static void test_text_of_a_warning_is_its_callers(void **state)
{
	struct found f;

	(void)state;
	read_whole_log(&f, "------------[ cut here ]------------\n"
			   "!another task speaks\n"
			   "a text\n"
			   "!WARNING: CPU: 0 PID: 5 at a.c:1 other+0x1/0x2\n"
			   "WARNING: CPU: 1 PID: 6 at b.c:1 first+0x1/0x2\n");
	assert_int_equal(f.count, 2);
	assert_string_equal(f.list[0].text, "WARNING: CPU: 0 PID: 5 at a.c:1 other+0x1/0x2");
	assert_string_equal(f.list[1].text, "a text");
}

static void test_hostile_lines(void **state)
{
	struct found f;
	char line[2048];

	(void)state;
	memset(line, 'A', sizeof(line));
	memcpy(line, "BUG: ", 5);
	line[100] = '\033';
	line[sizeof(line) - 1] = '\0';
	read_whole_log(&f, line);
	assert_int_equal(f.count, 1);
	assert_true(strlen(f.list[0].text) < COMPLAINT_TEXT_MAX);
	assert_non_null(strstr(f.list[0].text, "\\x1b"));
	/* A complaint without end is whole after a bounded number of lines. */
	f = (struct found){0};
	read_log(&f, "Oops: 0000\n");
	for (unsigned i = 0; i < 1000; i++)
		read_log(&f, "Call Trace:\n a_function+0x1/0x2\nCPU: 99999999999999999999 PID: -1 Comm: \n");
	assert_int_equal(f.count, 1);
	assert_int_equal(f.list[0].frame_count, COMPLAINT_FRAMES_MAX);
	assert_int_equal(f.list[0].cpu, -1);
}

static void test_prefixes_of_a_console(void **state)
{
	static const struct {
		const char *line, *text;
	} lines[] = {
		{"[    1.000000] BUG: x", "BUG: x"},
		{"[    1.000000][    T1] BUG: x", "BUG: x"},
		{"[   C1] x", "x"},
		{"[fs] x", "[fs] x"},
		{"[    1.000000]", "[    1.000000]"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_string_equal(linux_line_text(lines[i].line, lines[i].line + strlen(lines[i].line)), lines[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oops),
		cmocka_unit_test(test_complaint_is_found_when_its_last_line_came),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_a_hung_task_is_the_one_that_waits),
		cmocka_unit_test(test_address_of_a_general_protection_fault),
		cmocka_unit_test(test_no_complaint),
		cmocka_unit_test(test_two_callers),
		cmocka_unit_test(test_text_of_a_warning_is_its_callers),
		cmocka_unit_test(test_hostile_lines),
		cmocka_unit_test(test_prefixes_of_a_console),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
