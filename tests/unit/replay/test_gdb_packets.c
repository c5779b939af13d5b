// SPDX-License-Identifier: GPL-2.0-or-later
/* The server for gdb answers Outrider's own client, and a client that breaks the protocol. The machine is that of
 * traced_copy.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/replay/gdb/gdb.h"
#include "hv/rsp/packet.h"
#include "hv/rsp/rsp.h"
#include "tests/unit/replay/traced_copy.h"

#define WAIT_NS 100000000000ull

struct session {
	char folder[64], address[96];
	pid_t server;
};

/* The server traces the machine, so both are made in the same process. */
static _Noreturn void serve(int listener)
{
	struct traced traced;
	struct gdb_config config = {.listener = listener, .stop_fd = -1};
	struct gdb_machine machine;
	struct err err = {0};
	int rc;

	traced_start(&traced, 0);
	machine = race_machine(&traced.race);
	rc = gdb_serve_client(&config, &machine, &err);
	traced_end(&traced);
	_exit(rc < 0);
}

static void begin(struct session *s)
{
	struct err err = {0};
	int listener;

	strcpy(s->folder, "/tmp/test_replay_gdb.XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	snprintf(s->address, sizeof(s->address), "unix:%s/socket", s->folder);
	listener = gdb_listen_unix(s->address + strlen("unix:"), &err);
	assert_true(listener >= 0);
	s->server = fork();
	assert_true(s->server >= 0);
	if (s->server == 0)
		serve(listener);
	close(listener);
}

/* Check that the server ended by itself, and without an error. */
static void end(struct session *s)
{
	int status;

	assert_int_equal(waitpid(s->server, &status, 0), s->server);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	unlink(s->address + strlen("unix:"));
	rmdir(s->folder);
}

static int connect_to(const struct session *s)
{
	struct err err = {0};
	int fd = rsp_connect(s->address, NULL, &err);

	assert_true(fd >= 0);
	return fd;
}

static void stops(struct rsp *r, enum rsp_stop_kind kind, uint32_t thread)
{
	struct rsp_stop stop;

	assert_int_equal(rsp_wait(r, WAIT_NS, &stop), 1);
	assert_int_equal(stop.kind, kind);
	if (thread)
		assert_int_equal(stop.thread, thread);
}

static void our_client_understands_the_server(void **state)
{
	struct session s;
	struct err err = {0};
	struct x86_regs regs, changed;
	uint32_t ids[4];
	uint64_t datum = 0, ticks[2] = {0};
	char text[2048];
	struct rsp *r;

	(void)state;
	begin(&s);
	r = rsp_open(connect_to(&s), false, NULL, NULL, &err);
	if (!r)
		fail_msg("%s", err.text);
	assert_int_equal(rsp_threads(r, ids, 4), 2);
	assert_int_equal(rsp_regs(r, ids[0], &regs), 0);
	assert_int_equal(regs.rip, (uint64_t)traced_store);
	assert_int_equal(rsp_read(r, regs.gpr[X86_RDI], &datum, sizeof(datum)), 0);
	assert_int_equal(datum, TRACED_OLD);
	datum = 7;
	assert_int_equal(rsp_write(r, regs.gpr[X86_RDI], &datum, sizeof(datum)), 0);
	datum = 0;
	assert_int_equal(rsp_read(r, regs.gpr[X86_RDI], &datum, sizeof(datum)), 0);
	assert_int_equal(datum, 7);
	changed = regs;
	changed.gpr[X86_R15] = 0x1122334455667788;
	assert_int_equal(rsp_set_regs(r, ids[0], &regs, &changed), 0);
	assert_int_equal(rsp_regs(r, ids[0], &regs), 0);
	assert_int_equal(regs.gpr[X86_R15], changed.gpr[X86_R15]);
	assert_int_equal(rsp_monitor(r, "order", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "Order 1: the access of CPU 0 comes first"));

	assert_int_equal(rsp_insert(r, RSP_HARDWARE, (uint64_t)traced_load, 1), 0);
	assert_int_equal(rsp_resume(r, NULL, 0), 0);
	stops(r, RSP_STOP_BREAK, 2);
	assert_int_equal(rsp_remove(r, RSP_HARDWARE, (uint64_t)traced_load, 1), 0);
	assert_int_equal(rsp_resume(r, NULL, 0), 0);
	stops(r, RSP_STOP_BREAK, 0); /* the end of both regions */

	/* After the order both CPUs run in their loops, until the client interrupts them. */
	assert_int_equal(rsp_regs(r, ids[0], &regs), 0);
	do {
		assert_int_equal(rsp_resume(r, NULL, 0), 0);
		assert_int_equal(rsp_interrupt(r), 0);
		stops(r, RSP_STOP_OTHER, 0);
		assert_int_equal(rsp_read(r, regs.gpr[X86_RBX], ticks, sizeof(ticks)), 0);
	} while (!ticks[0] || !ticks[1]);
	assert_int_equal(rsp_detach(r), 0);
	rsp_close(r);
	end(&s);
}

/* ---- packets ---- */

struct raw {
	int fd;
	uint8_t in[2 * RSP_PACKET_MAX], payload[RSP_PACKET_MAX + 1];
	size_t len;
};

/* The next packet, NUL-terminated. */
static const char *receive(struct raw *r)
{
	for (;;) {
		size_t used, n = 0;
		enum rsp_token token = rsp_scan(r->in, r->len, &used, r->payload, &n);
		ssize_t got;

		r->len -= used;
		memmove(r->in, r->in + used, r->len);
		if (token == RSP_PACKET) {
			r->payload[n] = 0;
			return (const char *)r->payload;
		}
		if (token == RSP_ACK || token == RSP_NAK)
			continue;
		got = recv(r->fd, r->in + r->len, sizeof(r->in) - r->len, 0);
		assert_true(got > 0);
		r->len += (size_t)got;
	}
}

static const char *ask(struct raw *r, const char *packet)
{
	uint8_t out[4096];
	size_t n = rsp_frame(packet, strlen(packet), out, sizeof(out));

	assert_int_equal(send(r->fd, out, n, MSG_NOSIGNAL), n);
	return receive(r);
}

static void what_is_wrong_is_refused(void **state)
{
	static const char *const cases[][2] = {
		{"nonsense", ""},
		{"", ""},
		{"qUnknown", ""},
		{"QUnknown", ""},
		{"vUnknown", ""},
		{"vMustReplyEmpty", ""},
		{"X0,1:a", ""},
		{"m", "E01"},
		{"m0", "E01"},
		{"m0,10,10", "E01"},
		{"m10,8", "E0e"},
		{"x10,8", "E0e"},
		{"m11111111111111111,8", "E01"},
		{"mffffffffffffffff,ffffffffffffffff", "E0e"},
		{"M10,2:01", "E01"},
		{"M10,1:zz", "E01"},
		{"M10,1:01", "E0e"},
		{"Mffffffffffffffff,ffffffffffffffff:", "E01"},
		{"p", "E01"},
		{"pffff", "E01"},
		{"P10", "E01"},
		{"P10=00", "E16"},
		{"P10=zzzzzzzzzzzzzzzz", "E16"},
		{"P12=00000000", "E16"}, /* cs */
		{"G00", "E16"},
		{"Hg3", "E01"},
		{"Hgp1.1", "E01"},
		{"Hx1", "E01"},
		{"T3", "E01"},
		{"T", "E01"},
		{"T2", "OK"},
		{"Z", "E01"},
		{"Z9,0,1", "E01"},
		{"Z2,ffffffffffffffff,2", "E01"},
		{"Z2,1000,0", "E01"},
		{"Z2,1000,100000", "E1c"},
		{"z0,1,1", "OK"}, /* The breakpoint does not exist. */
		{"vCont", "E01"},
		{"vCont;", "E01"},
		{"vCont;x", "E01"},
		{"vCont;c:3", "E01"},
		{"qXfer:features:read:no.xml:0,10", "E01"},
		{"qXfer:features:read:target.xml:ffffffffffffffff,10", "l"},
		{"qThreadExtraInfo,7", "E01"},
		{"qRcmd,0", "E01"},
		{"qC", "QC1"},
		{"qAttached", "1"},
		{"qfThreadInfo", "m1,2"},
		{"qsThreadInfo", "l"},
		{"vCont?", "vCont;c;C;s;S"},
		{"?", "T05thread:1;"},
		{"vCont;s:2;c", "T05thread:2;"},
		{"Hg1", "OK"},
		{"Hc2", "OK"},
		{"S05", "T05thread:2;"},
	};
	struct raw *r = calloc(1, sizeof(*r));
	struct session s;

	(void)state;
	assert_non_null(r);
	begin(&s);
	r->fd = connect_to(&s);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *reply = ask(r, cases[i][0]);

		if (strcmp(reply, cases[i][1]) != 0)
			fail_msg("\"%s\" is answered by \"%s\" and not by \"%s\"", cases[i][0], reply, cases[i][1]);
	}
	assert_string_equal(ask(r, "D"), "OK");
	close(r->fd);
	free(r);
	end(&s);
}

static void points_have_a_limit(void **state)
{
	struct raw *r = calloc(1, sizeof(*r));
	struct session s;
	char packet[64];

	(void)state;
	assert_non_null(r);
	begin(&s);
	r->fd = connect_to(&s);
	for (unsigned i = 0; i <= GDB_POINTS_MAX; i++) {
		snprintf(packet, sizeof(packet), "Z0,%x,1", 0x1000 + i);
		assert_string_equal(ask(r, packet), i < GDB_POINTS_MAX ? "OK" : "E1c");
	}
	assert_string_equal(ask(r, "Z0,1000,1"), "OK"); /* The breakpoint exists already. */
	assert_string_equal(ask(r, "z0,1000,1"), "OK");
	assert_string_equal(ask(r, "Z1,1000,1"), "OK");
	close(r->fd);
	free(r);
	end(&s);
}

static void packet_without_end_ends_the_session(void **state)
{
	struct session s;
	char bytes[4096], reply;
	int fd;

	(void)state;
	begin(&s);
	fd = connect_to(&s);
	memset(bytes, 'a', sizeof(bytes));
	bytes[0] = '$';
	while (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
		bytes[0] = 'a';
	/* The server has closed the connection without reading all of this. */
	assert_true(recv(fd, &reply, 1, 0) <= 0);
	close(fd);
	end(&s);
}

static void addresses_are_checked(void **state)
{
	static const char *const wrong[] = {"", "nowhere", "0", "70000", "host:0", "host:70000", "host:12x", ":"};
	struct session s;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		err = (struct err){0};
		assert_int_equal(gdb_listen_tcp(wrong[i], &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
	}
	begin(&s);
	err = (struct err){0};
	assert_int_equal(gdb_listen_unix(s.address + strlen("unix:"), &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "remove it, or give another path"));
	close(connect_to(&s));
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_client_understands_the_server),
		cmocka_unit_test(what_is_wrong_is_refused),
		cmocka_unit_test(points_have_a_limit),
		cmocka_unit_test(packet_without_end_ends_the_session),
		cmocka_unit_test(addresses_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
