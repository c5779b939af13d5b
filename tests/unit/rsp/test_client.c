/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The gdbstub client with a correct stub, a wrong stub, and peers that are no stubs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <pthread.h>

#include "hv/base/rng.h"
#include "hv/rsp/rsp.h"
#include "tests/unit/rsp/fake_stub.h"

#define PATIENCE_NS 60000000000ull /* Limit of each wait. On an idle machine a wait takes milliseconds. */

static int setup(void **state)
{
	*state = fake_stub_new();
	return 0;
}

static int teardown(void **state)
{
	fake_stub_free(*state);
	return 0;
}

static struct rsp *connect_to(struct fake_stub *s)
{
	struct err err = {0};
	struct rsp *r;

	fake_stub_start(s);
	r = rsp_open(s->client_fd, false, NULL, NULL, &err);
	assert_string_equal(err.text, "");
	assert_non_null(r);
	return r;
}

static void check_machine(struct fake_stub *s, struct rsp *r)
{
	uint8_t bytes[5000], back[5000];
	uint32_t ids[4];

	assert_int_equal(rsp_threads(r, ids, 4), 2);
	assert_int_equal(ids[0], 1);
	assert_int_equal(ids[1], 2);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	assert_int_equal(rsp_write(r, 0x1003, bytes, sizeof(bytes)), 0);
	assert_memory_equal(s->ram + 0x1003, bytes, sizeof(bytes));
	assert_int_equal(rsp_read(r, 0x1003, back, sizeof(back)), 0);
	assert_memory_equal(back, bytes, sizeof(back));
	assert_int_equal(rsp_read(r, STUB_RAM - 8, back, 16), -1);
	assert_int_equal(rsp_write(r, STUB_RAM - 8, back, 16), -1);
	assert_int_equal(rsp_read(r, 0, back, 1), 0); /* the stub refuses, the connection stays */
}

static void test_machine(void **state)
{
	struct fake_stub *s = *state;
	struct rsp *r = connect_to(s);
	bool exited;

	assert_true(rsp_was_running(r));
	check_machine(s, r);
	assert_int_equal(rsp_physical(r, true), 0);
	assert_true(s->physical);
	assert_int_equal(rsp_detach(r), 0);
	assert_true(s->detached);
	assert_false(s->physical); /* the mode that the stub had before */
	assert_null(rsp_dead(r, &exited));
	rsp_close(r);
}

static void test_no_ack_and_binary(void **state)
{
	struct fake_stub *s = *state;
	struct rsp *r;

	s->no_ack = s->binary = true;
	s->was_running = false;
	r = connect_to(s);
	assert_false(rsp_was_running(r));
	check_machine(s, r);
	rsp_close(r);
}

/* Whether the client assumes that the machine ran. The stub reports no stop when the client connects. */
static bool ran(struct fake_stub *s, const char *version, const char *status)
{
	struct rsp *r;
	bool running;

	s->was_running = false;
	s->version = version;
	s->status = status;
	r = connect_to(s);
	running = rsp_was_running(r);
	check_machine(s, r);
	rsp_close(r);
	return running;
}

static void test_newer_qemu_reports_no_stop(void **state)
{
	assert_true(ran(*state, "11.1.3Debian 1:11.1.3+ds-1\r\n", "VM status: paused\r\n"));
}

static void test_newer_qemu_has_not_begun(void **state)
{
	assert_false(ran(*state, "8.1.0\r\n", "VM status: paused (prelaunch)\r\n"));
}

static void test_older_qemu_would_have_reported_it(void **state)
{
	assert_false(ran(*state, "8.0.9\r\n", "VM status: paused\r\n"));
}

static void test_monitor_that_is_none_of_qemus(void **state)
{
	assert_false(ran(*state, "what?", "VM status: paused\r\n"));
}

static void test_damaged_replies(void **state)
{
	struct fake_stub *s = *state;
	struct rsp *r;
	uint8_t byte;

	r = connect_to(s);
	s->ram[5] = 0x5a;
	s->damage = 3;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(rsp_read(r, 5, &byte, 1), 0);
		assert_int_equal(byte, 0x5a);
	}
	assert_int_equal(s->damaged, 3);
	rsp_close(r);
}

static void test_registers(void **state)
{
	struct fake_stub *s = *state;
	struct rsp *r = connect_to(s);
	struct x86_regs regs, changed;

	s->cpu[1] = (struct stub_cpu){.rip = 0xffffffff81000000, .rflags = 0x246, .gs_base = 0xffff888000000000, .cr3 = 0x1000};
	s->cpu[1].gpr[1] = 11; /* rbx */
	s->cpu[1].gpr[5] = 55; /* rdi */
	s->cpu[1].gpr[7] = 77; /* rsp */
	s->cpu[1].cr4 = X86_CR4_LA57;
	s->cpu[1].efer = 0xd01;
	assert_int_equal(rsp_regs(r, 2, &regs), 0);
	assert_int_equal(regs.gpr[X86_RBX], 11);
	assert_int_equal(regs.gpr[X86_RDI], 55);
	assert_int_equal(regs.gpr[X86_RSP], 77);
	assert_int_equal(regs.rip, 0xffffffff81000000);
	assert_int_equal(regs.rflags, 0x246);
	assert_int_equal(regs.cs, 0x10);
	assert_int_equal(regs.ss, 0x18);
	assert_int_equal(regs.gs_base, 0xffff888000000000);
	assert_int_equal(regs.cr3, 0x1000);
	assert_int_equal(regs.cr4, X86_CR4_LA57);
	assert_int_equal(regs.efer, 0xd01);
	assert_int_equal(regs.idt_base, 0);

	changed = regs;
	changed.gpr[X86_RSP] -= 8;
	changed.rip++;
	changed.cr3 = 0; /* the client must not change CR3 */
	assert_int_equal(rsp_set_regs(r, 2, &regs, &changed), 0);
	assert_int_equal(s->cpu[1].gpr[7], 69);
	assert_int_equal(s->cpu[1].rip, 0xffffffff81000001);
	assert_int_equal(s->cpu[1].gpr[5], 55);
	assert_int_equal(s->cpu[1].cr3, 0x1000);
	assert_int_equal(rsp_regs(r, 3, &regs), -1);
	assert_false(rsp_halted(r, 1));
	s->cpu[0].halted = true;
	assert_true(rsp_halted(r, 1));
	rsp_close(r);
}

static void test_points(void **state)
{
	struct fake_stub *s = *state;
	struct rsp *r = connect_to(s);

	assert_int_equal(rsp_insert(r, RSP_SOFTWARE, 0xffffffff81000000, 1), 0);
	assert_int_equal(rsp_insert(r, RSP_WATCH_ACCESS, 0xffff888000000008, 8), 0);
	assert_true(fake_stub_has(s, 0, 0xffffffff81000000));
	assert_true(fake_stub_has(s, 4, 0xffff888000000008));
	assert_int_equal(rsp_insert(r, RSP_SOFTWARE, 0xffffffff81000000, 1), -1);
	assert_int_equal(rsp_remove(r, RSP_SOFTWARE, 0xffffffff81000000, 1), 0);
	assert_int_equal(rsp_remove(r, RSP_SOFTWARE, 0xffffffff81000000, 1), 0); /* the stub refuses; the client ignores that */
	assert_int_equal(rsp_flush(r), 0);
	assert_false(fake_stub_has(s, 0, 0xffffffff81000000));
	assert_int_equal(rsp_detach(r), 0);
	assert_int_equal(fake_stub_points(s, -1), 0);
	rsp_close(r);
}

#define MANY 300u

static void insert_many(struct rsp *r)
{
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(rsp_insert(r, RSP_SOFTWARE, 0xffffffff81000000 + i, 1), 0);
}

/* Remove many breakpoints. Returns the number of round trips. */
static uint64_t remove_many(struct rsp *r)
{
	uint64_t before = rsp_requests(r);

	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(rsp_remove(r, RSP_SOFTWARE, 0xffffffff81000000 + i, 1), 0);
	assert_int_equal(rsp_flush(r), 0);
	assert_int_equal(rsp_flush(r), 0); /* no removal is left */
	return rsp_requests(r) - before;
}

static void test_removals_go_together(void **state)
{
	struct fake_stub *s = *state;
	struct rsp *r = connect_to(s);

	insert_many(r);
	assert_true(remove_many(r) < MANY / 20);
	assert_int_equal(fake_stub_points(s, -1), 0);
	check_machine(s, r);
	rsp_close(r);
}

/* Such a stub may discard requests that arrive before the client has acknowledged its reply. */
static void test_removals_go_one_by_one(void **state)
{
	struct fake_stub *s = *state;
	struct rsp *r;

	s->no_physical = true;
	r = connect_to(s);
	insert_many(r);
	assert_int_equal(remove_many(r), MANY);
	assert_int_equal(fake_stub_points(s, -1), 0);
	rsp_close(r);
}

/* A request gets its own reply, not the reply to the removal that the client sent before it. */
static void test_a_removal_goes_in_front(void **state)
{
	struct fake_stub *s = *state;
	struct rsp *r = connect_to(s);
	struct rsp_stop stop;
	uint8_t byte = 0;

	s->ram[7] = 0x77;
	insert_many(r);
	assert_int_equal(rsp_remove(r, RSP_SOFTWARE, 0xffffffff81000000, 1), 0);
	assert_int_equal(rsp_remove(r, RSP_SOFTWARE, 0x1234, 1), 0); /* refused */
	assert_int_equal(rsp_read(r, 7, &byte, 1), 0);
	assert_int_equal(byte, 0x77);
	assert_int_equal(fake_stub_points(s, -1), MANY - 1);
	assert_int_equal(rsp_remove(r, RSP_SOFTWARE, 0xffffffff81000001, 1), 0);
	assert_int_equal(rsp_resume(r, NULL, 0), 0);
	assert_true(fake_stub_wait(s, true));
	assert_int_equal(fake_stub_points(s, -1), MANY - 2);
	fake_stub_stop(s, "T05thread:01;");
	assert_int_equal(rsp_wait(r, PATIENCE_NS, &stop), 1);
	assert_int_equal(stop.kind, RSP_STOP_BREAK);
	assert_int_equal(rsp_read(r, 7, &byte, 1), 0);
	assert_int_equal(byte, 0x77);
	rsp_close(r);
}

static void test_stops(void **state)
{
	struct fake_stub *s = *state;
	struct rsp *r = connect_to(s);
	const uint32_t second[] = {2};
	struct rsp_stop stop;

	assert_int_equal(rsp_resume(r, second, 1), 0);
	assert_true(fake_stub_wait(s, true));
	assert_false(s->cpu[0].runs);
	assert_true(s->cpu[1].runs);
	assert_int_equal(rsp_wait(r, 1000000, &stop), 0);
	fake_stub_stop(s, "T05thread:p01.02;watch:ffff888000000010;");
	assert_int_equal(rsp_wait(r, PATIENCE_NS, &stop), 1);
	assert_int_equal(stop.kind, RSP_STOP_WATCH);
	assert_int_equal(stop.thread, 2);
	assert_int_equal(stop.addr, 0xffff888000000010);

	assert_int_equal(rsp_resume(r, NULL, 0), 0);
	assert_true(fake_stub_wait(s, true));
	assert_true(s->cpu[0].runs);
	fake_stub_stop(s, "T05thread:01;");
	assert_int_equal(rsp_wait(r, PATIENCE_NS, &stop), 1);
	assert_int_equal(stop.kind, RSP_STOP_BREAK);
	assert_int_equal(stop.thread, 1);

	assert_int_equal(rsp_resume(r, NULL, 0), 0);
	assert_int_equal(rsp_interrupt(r), 0);
	assert_int_equal(rsp_wait(r, PATIENCE_NS, &stop), 1);
	assert_int_equal(stop.kind, RSP_STOP_OTHER);
	rsp_close(r);
}

static void test_machine_ends(void **state)
{
	struct fake_stub *s = *state;
	struct rsp *r = connect_to(s);
	struct rsp_stop stop;
	bool exited;

	assert_int_equal(rsp_resume(r, NULL, 0), 0);
	assert_true(fake_stub_wait(s, true));
	fake_stub_stop(s, "W00");
	assert_int_equal(rsp_wait(r, PATIENCE_NS, &stop), -1);
	assert_non_null(rsp_dead(r, &exited));
	assert_true(exited);
	assert_int_equal(rsp_read(r, 0, &stop, 1), -1);
	rsp_close(r);
}

static void test_hangs_up(void **state)
{
	struct fake_stub *s = *state;
	struct rsp *r = connect_to(s);
	struct rsp_stop stop;
	bool exited;

	assert_int_equal(rsp_resume(r, NULL, 0), 0);
	fake_stub_hang_up(s);
	assert_int_equal(rsp_wait(r, PATIENCE_NS, &stop), -1);
	assert_non_null(strstr(rsp_dead(r, &exited), "closed the connection"));
	assert_true(exited);
	rsp_close(r);
}

struct flood {
	const char *bytes;
	int fd;
};

/*
 * Send the same bytes until the other end closes, many copies at a time. One at a time, a flood would take longer on a busy
 * machine than the client waits for an answer. A packet without a checksum gets the right one.
 */
static void *send_flood(void *arg)
{
	const struct flood *flood = arg;
	size_t len = strlen(flood->bytes), one, all = 0;
	char text[64], many[4096];
	uint8_t sum = 0;

	for (size_t k = 1; k + 1 < len; k++)
		sum += (uint8_t)flood->bytes[k];
	if (flood->bytes[len - 1] == '#')
		snprintf(text, sizeof(text), "%s%02x", flood->bytes, sum);
	else
		snprintf(text, sizeof(text), "%s", flood->bytes);
	one = strlen(text);
	for (; all + one <= sizeof(many); all += one)
		memcpy(many + all, text, one);
	while (send(flood->fd, many, all, MSG_NOSIGNAL) > 0)
		;
	return NULL;
}

static void refuse(struct fake_stub *s, const char *why)
{
	struct err err = {0};

	fake_stub_start(s);
	assert_null(rsp_open(s->client_fd, false, NULL, NULL, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, why))
		fail_msg("'%s' is not in '%s'", why, err.text);
}

static void test_other_machine(void **state)
{
	struct fake_stub *s = *state;

	s->description = "<target><architecture>aarch64</architecture><feature name='x'><reg name='x0' "
			 "bitsize='64'/></feature></target>";
	refuse(s, "not an x86-64 machine but aarch64");
	assert_true(s->detached); /* the machine ran, and stopped because the client connected */
}

static void test_missing_register(void **state)
{
	struct fake_stub *s = *state;

	s->description = "<target><reg name='rax' bitsize='64'/></target>";
	refuse(s, "does not show register rcx");
}

static void test_not_xml(void **state)
{
	struct fake_stub *s = *state;

	s->description = "<target><reg";
	refuse(s, "is not XML");
}

static void test_includes_itself(void **state)
{
	struct fake_stub *s = *state;

	s->description = "<target><xi:include href='target.xml'/><xi:include href='target.xml'/></target>";
	refuse(s, "includes itself");
}

static void test_absurd_register(void **state)
{
	struct fake_stub *s = *state;

	s->description = "<target><reg name='rax' bitsize='64' regnum='9'/><reg name='rbx' bitsize='64' regnum='3'/></target>";
	refuse(s, "of an impossible size or number");
}

/* A few hundred kilobytes of XML whose entities would expand to gigabytes. */
static void test_entities(void **state)
{
	struct fake_stub *s = *state;

	s->description = "<!DOCTYPE target [<!ENTITY a 'aaaaaaaaaa'>]><target><architecture>&a;</architecture></target>";
	refuse(s, "declares entities");
	assert_true(s->detached);
}

static void test_attribute_declared(void **state)
{
	struct fake_stub *s = *state;

	s->description = "<!DOCTYPE target [<!ATTLIST reg name (a|b) 'a'>]><target><reg/></target>";
	refuse(s, "declares entities");
}

/* The limit of 50 ms ends a wait that would otherwise last for RSP_PATIENCE_NS. */
static void test_limit(void **state)
{
	struct fake_stub *s = *state;
	struct limit limit;
	struct err err = {0};
	uint64_t began = monotonic_ns();
	bool standing = true;

	limit_init(&limit);
	limit_within(&limit, 50000000);
	limit_within(&limit, PATIENCE_NS); /* The earlier limit counts. */
	s->mute = true;
	fake_stub_start(s);
	assert_null(rsp_open(s->client_fd, false, &limit, &standing, &err));
	assert_non_null(strstr(err.text, "within its time limit"));
	assert_false(standing); /* The stub has not said that the machine ran. */
	assert_true(monotonic_ns() - began < RSP_PATIENCE_NS);
}

/* Floods of packets from a stub to which the client has sent no request. */
static void test_floods(void **state)
{
	static const struct {
		const char *bytes, *why;
	} floods[] = {
		{"+", "keeps sending data that outrider did not ask for"},
		{"$T05thread:01;#", "keeps sending data that outrider did not ask for"},
		{"%Stop:#", "keeps sending data that outrider did not ask for"},
		{"noise", "keeps sending data that outrider did not ask for"},
		{"-", "reports a request as damaged"},
		{"$OK#00", "damaged packet"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(floods) / sizeof(*floods); i++) {
		struct flood flood = {.bytes = floods[i].bytes};
		struct err err = {0};
		pthread_t thread;
		int fds[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		flood.fd = fds[1];
		assert_int_equal(pthread_create(&thread, NULL, send_flood, &flood), 0);
		assert_null(rsp_open(fds[0], false, NULL, NULL, &err));
		if (!strstr(err.text, floods[i].why))
			fail_msg("%s: '%s' is not in '%s'", floods[i].bytes, floods[i].why, err.text);
		pthread_join(thread, NULL);
		close(fds[1]);
	}
}

/* For any answer of the peer, rsp_open() returns a client or an error, and reads and writes nothing out of bounds. */
static void test_fuzz(void **state)
{
	static const char *const pieces[] = {
		"+",
		"-",
		"$OK#9a",
		"$#00",
		"$l<target/>#",
		"$m01#ce",
		"$T05thread:01;#",
		"$E22#a9",
		"%x#00",
		"$0* #7a",
		"$vCont;c#",
		"$PacketSize=1000;qXfer:features:read+#",
		"$PacketSize=ffffffffffffffff;qXfer:features:read+#",
		"$l#6c",
		"$W00#b7",
	};
	struct rng rng = {.state = 7};

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct err err = {0};
		struct rsp *r;
		int fds[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
		for (unsigned i = 0; i < 40; i++) {
			const char *piece = pieces[rng_below(&rng, sizeof(pieces) / sizeof(*pieces))];
			size_t len = strlen(piece);
			uint8_t sum = 0;
			char text[128];

			for (size_t k = 1; k + 1 < len; k++)
				sum += (uint8_t)piece[k];
			/* Packets without a checksum get the right one. */
			snprintf(text, sizeof(text), "%s", piece);
			if (len > 1 && piece[len - 1] == '#')
				snprintf(text + len, sizeof(text) - len, "%02x", sum);
			if (rng_below(&rng, 10) == 0)
				text[rng_below(&rng, strlen(text))] = (char)rng_next(&rng);
			assert_true(write(fds[1], text, strlen(text)) >= 0);
		}
		shutdown(fds[1], SHUT_WR);
		r = rsp_open(fds[0], false, NULL, NULL, &err);
		assert_true(r || err.code != EXIT_OK);
		rsp_close(r);
		close(fds[1]);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_machine),
		T(test_no_ack_and_binary),
		T(test_newer_qemu_reports_no_stop),
		T(test_newer_qemu_has_not_begun),
		T(test_older_qemu_would_have_reported_it),
		T(test_monitor_that_is_none_of_qemus),
		T(test_damaged_replies),
		T(test_registers),
		T(test_points),
		T(test_removals_go_together),
		T(test_removals_go_one_by_one),
		T(test_a_removal_goes_in_front),
		T(test_stops),
		T(test_machine_ends),
		T(test_hangs_up),
		T(test_other_machine),
		T(test_missing_register),
		T(test_not_xml),
		T(test_includes_itself),
		T(test_absurd_register),
		T(test_entities),
		T(test_attribute_declared),
		T(test_limit),
		cmocka_unit_test(test_floods),
		cmocka_unit_test(test_fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
