/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vsock device between a driver in memory and programs of the host, which are sockets of this test. */
#include <setjmp.h>
#include <stdarg.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/vmm/vmm.h"
#include "hv/vmm/vsock/host.h"
#include "hv/vmm/vsock/packet.h"
#include "hv/vmm/vsock/streams.h"
#include "hv/vmm/vsock/virtio_vsock.h"
#include "tests/unit/vmm/device_rig.h"

enum { RECEIVE, TRANSMIT, EVENT };

#define CID 7
#define HEADER sizeof(struct vsock_header)
#define GUEST_PORT 5000
#define HOST_PORT 1234
#define ROOM 262144 /* bytes for which the guest has room, unless a test says otherwise */
#define RX_BUFFER 4096
#define RX_BUFFERS 128
#define RX_AT RIG_BUFFERS
#define TX_AT (RIG_BUFFERS + (8u << 20))

static char folder[] = "/tmp/outrider-vsock-XXXXXX", path[64], port_path[80];
static struct rig *rig;
static struct virtio_vsock *vsock;
static uint64_t buffer_of[RIG_SIZE]; /* GPA of the receive buffer, by descriptor */
static int listener;		     /* of HOST_PORT */

/* ---- the driver ---- */

static void add_buffer(uint64_t gpa, uint32_t len)
{
	uint16_t head = rig_add(RECEIVE, &(struct rig_buffer){gpa, len, true}, 1);

	buffer_of[head] = gpa;
}

static void add_buffers(void)
{
	for (unsigned i = 0; i < RX_BUFFERS; i++)
		add_buffer(RX_AT + i * RX_BUFFER, RX_BUFFER);
	rig_kick(RECEIVE);
}

static struct vsock_header packet(enum vsock_op op)
{
	return (struct vsock_header){
		.src_cid = CID,
		.dst_cid = VSOCK_HOST_CID,
		.src_port = GUEST_PORT,
		.dst_port = HOST_PORT,
		.type = VSOCK_STREAM,
		.op = (uint16_t)op,
		.buf_alloc = ROOM,
	};
}

static void put(const struct vsock_header *h, const void *payload, uint32_t len)
{
	const struct rig_buffer pieces[] = {{TX_AT, HEADER, false}, {TX_AT + 0x1000, len, false}};

	memcpy(rig_at(TX_AT), h, HEADER);
	if (len)
		memcpy(rig_at(TX_AT + 0x1000), payload, len);
	rig_add(TRANSMIT, pieces, len ? 2 : 1);
	rig_kick(TRANSMIT);
	rig_work();
}

static void send_op(enum vsock_op op)
{
	struct vsock_header h = packet(op);

	put(&h, NULL, 0);
}

static void send_data(const void *data, uint32_t len)
{
	struct vsock_header h = packet(VSOCK_OP_RW);

	h.len = len;
	put(&h, data, len);
}

/* Take the next packet for the guest, and make its buffer available again. Returns false without a packet. */
static bool next(struct vsock_header *h, unsigned char *payload)
{
	uint16_t head;
	uint32_t len;

	rig_work();
	if (!rig_used(RECEIVE, &head, &len))
		return false;
	assert_in_range(len, HEADER, RX_BUFFER);
	memcpy(h, rig_at(buffer_of[head]), HEADER);
	assert_int_equal(len, HEADER + h->len);
	if (payload)
		memcpy(payload, rig_at(buffer_of[head] + HEADER), h->len);
	/* An RST may answer a packet for another CID. It then comes from that CID. */
	if (h->op != VSOCK_OP_RST)
		assert_int_equal(h->src_cid, VSOCK_HOST_CID);
	assert_int_equal(h->dst_cid, CID);
	add_buffer(buffer_of[head], RX_BUFFER);
	rig_kick(RECEIVE);
	return true;
}

static void expect_op(enum vsock_op op, uint32_t flags)
{
	struct vsock_header h;

	assert_true(next(&h, NULL));
	assert_int_equal(h.op, op);
	assert_int_equal(h.flags, flags);
	assert_int_equal(h.type, VSOCK_STREAM);
	assert_int_equal(h.src_port, HOST_PORT);
	assert_int_equal(h.dst_port, GUEST_PORT);
}

static void expect_nothing(void)
{
	struct vsock_header h;

	assert_false(next(&h, NULL));
}

/* ---- programs of the host ---- */

static struct sockaddr_un address(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	strcpy(a.sun_path, name);
	return a;
}

static int listen_on(const char *name)
{
	struct sockaddr_un a = address(name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	assert_return_code(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_return_code(listen(fd, 256), 0);
	return fd;
}

static int call_device(const char *line)
{
	struct sockaddr_un a = address(path);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_return_code(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(send(fd, line, strlen(line), MSG_NOSIGNAL), strlen(line));
	rig_work();
	return fd;
}

static void expect_bytes(int fd, const void *wanted, size_t len)
{
	char *got = malloc(len + 1);

	assert_int_equal(recv(fd, got, len, MSG_DONTWAIT), len);
	assert_memory_equal(got, wanted, len);
	free(got);
}

static void expect_end(int fd)
{
	char byte;

	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), 0);
}

/* Let a program in the guest connect to a program of the host, which accepts. Returns the host's socket. */
static int connected(void)
{
	int fd;

	send_op(VSOCK_OP_REQUEST);
	expect_op(VSOCK_OP_RESPONSE, 0);
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	return fd;
}

static int setup(void **state)
{
	struct vmm_config config = {.vsock_cid = CID, .vsock_socket = path};
	struct err err = {0};

	(void)state;
	snprintf(path, sizeof(path), "%s/vm", folder);
	snprintf(port_path, sizeof(port_path), "%s_%u", path, HOST_PORT);
	rig = rig_init();
	vsock = virtio_vsock_new(&rig->bus, &config, 0, &err);
	assert_string_equal(err.text, "");
	assert_non_null(vsock);
	listener = listen_on(port_path);
	rig_activate();
	add_buffers();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	virtio_vsock_free(vsock);
	assert_int_equal(access(path, F_OK), -1);
	close(listener);
	unlink(port_path);
	rig_destroy();
	return 0;
}

/* ---- tests ---- */

static void test_configuration(void **state)
{
	unsigned char cid[8];

	(void)state;
	assert_int_equal(rig->ops->config_size, 8);
	rig->ops->config_read(rig->dev, 0, cid, 8);
	assert_memory_equal(cid, "\7\0\0\0\0\0\0\0", 8);
	rig->ops->config_read(rig->dev, 4, cid, 4);
	assert_memory_equal(cid, "\0\0\0\0", 4);
}

static void test_guest_calls(void **state)
{
	unsigned char payload[RX_BUFFER];
	struct vsock_header h;
	int fd = connected();

	(void)state;
	send_data("to the host", 11);
	expect_bytes(fd, "to the host", 11);
	assert_int_equal(send(fd, "to the guest", 12, 0), 12);
	assert_true(next(&h, payload));
	assert_int_equal(h.op, VSOCK_OP_RW);
	assert_int_equal(h.len, 12);
	assert_memory_equal(payload, "to the guest", 12);
	/* The packet says how many bytes of the guest the host has taken. */
	assert_int_equal(h.fwd_cnt, 11);
	assert_int_equal(h.buf_alloc, VSOCK_BUFFER);
	expect_nothing();
	close(fd);
}

static void test_host_calls(void **state)
{
	int fd = call_device("CONNECT 5000\nand more");
	struct vsock_header h, answer = packet(VSOCK_OP_RESPONSE);
	unsigned char payload[RX_BUFFER];
	char line[32];

	(void)state;
	assert_true(next(&h, NULL));
	assert_int_equal(h.op, VSOCK_OP_REQUEST);
	assert_int_equal(h.dst_port, GUEST_PORT);
	assert_in_range(h.src_port, 1u << 30, UINT32_MAX >> 1);
	expect_nothing();
	answer.dst_port = h.src_port;
	put(&answer, NULL, 0);
	snprintf(line, sizeof(line), "OK %u\n", h.src_port);
	expect_bytes(fd, line, strlen(line));
	assert_true(next(&h, payload));
	assert_int_equal(h.op, VSOCK_OP_RW);
	assert_int_equal(h.len, 8);
	assert_memory_equal(payload, "and more", 8);
	close(fd);
}

static void test_host_call_in_pieces_and_wrong(void **state)
{
	static const char *const wrong[] = {"CONNECT\n",
					    "CONNECT \n",
					    "CONNECT x\n",
					    "CONNECT 5000 \n",
					    "CONNECT 4294967296\n",
					    "connect 5000\n",
					    "CONNECT -1\n",
					    "\n",
					    "CONNECT 00000000000000000001\n",
					    "GET / HTTP/1.1 and no newline"};
	struct vsock_header h;
	int fd = call_device("CONN");

	(void)state;
	expect_nothing();
	assert_int_equal(send(fd, "ECT 50", 6, 0), 6);
	expect_nothing();
	assert_int_equal(send(fd, "00\n", 3, 0), 3);
	assert_true(next(&h, NULL));
	assert_int_equal(h.op, VSOCK_OP_REQUEST);
	close(fd);
	assert_true(next(&h, NULL)); /* The program closed its socket before the guest answered. */
	assert_int_equal(h.op, VSOCK_OP_RST);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char byte;

		fd = call_device(wrong[i]);
		expect_nothing();
		/* The device has closed the connection: an end of file, or a reset if bytes were unread. */
		assert_true(recv(fd, &byte, 1, MSG_DONTWAIT) <= 0);
		assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), -1);
		close(fd);
	}
}

static void test_guest_refuses(void **state)
{
	struct vsock_header h, answer = packet(VSOCK_OP_RST);
	int fd = call_device("CONNECT 5000\n");

	(void)state;
	assert_true(next(&h, NULL));
	answer.dst_port = h.src_port;
	put(&answer, NULL, 0);
	expect_end(fd);
	expect_nothing();
	close(fd);
}

static void test_nobody_listens(void **state)
{
	struct vsock_header h = packet(VSOCK_OP_REQUEST);

	(void)state;
	h.dst_port = 99;
	put(&h, NULL, 0);
	assert_true(next(&h, NULL));
	assert_int_equal(h.op, VSOCK_OP_RST);
	assert_int_equal(h.src_port, 99);
	assert_int_equal(h.dst_port, GUEST_PORT);
}

/* The device answers an invalid packet by RST, and ends the connection of the packet. */
static void test_hostile_packets(void **state)
{
	static char big[VSOCK_BUFFER + 1];
	const struct {
		const char *what;
		bool connected; /* a connection exists before */
		bool known;	/* the packet belongs to it */
		struct vsock_header h;
		uint32_t payload;
	} hostile[] = {
		{"wrong source", true, false, {.src_cid = 8, .dst_cid = 2, .type = 1, .op = VSOCK_OP_RW}, 0},
		{"source is the host", true, false, {.src_cid = 2, .dst_cid = 2, .type = 1, .op = VSOCK_OP_RW}, 0},
		{"wrong destination", true, false, {.src_cid = CID, .dst_cid = 3, .type = 1, .op = VSOCK_OP_REQUEST}, 0},
		{"huge destination",
		 true,
		 false,
		 {.src_cid = CID, .dst_cid = UINT64_MAX, .type = 1, .op = VSOCK_OP_REQUEST},
		 0},
		{"wrong type", true, false, {.src_cid = CID, .dst_cid = 2, .type = 2, .op = VSOCK_OP_REQUEST}, 0},
		{"operation 0", true, true, {.src_cid = CID, .dst_cid = 2, .type = 1, .op = VSOCK_OP_INVALID}, 0},
		{"operation 8", true, true, {.src_cid = CID, .dst_cid = 2, .type = 1, .op = 8}, 0},
		{"second request", true, true, {.src_cid = CID, .dst_cid = 2, .type = 1, .op = VSOCK_OP_REQUEST}, 0},
		{"response to nothing", true, true, {.src_cid = CID, .dst_cid = 2, .type = 1, .op = VSOCK_OP_RESPONSE}, 0},
		{"longer than it is", true, true, {.src_cid = CID, .dst_cid = 2, .type = 1, .op = VSOCK_OP_RW, .len = 9}, 8},
		{"4 GiB long", true, true, {.src_cid = CID, .dst_cid = 2, .type = 1, .op = VSOCK_OP_RW, .len = UINT32_MAX}, 8},
		{"payload of a control packet",
		 true,
		 true,
		 {.src_cid = CID, .dst_cid = 2, .type = 1, .op = VSOCK_OP_CREDIT_UPDATE, .len = 4},
		 4},
		{"more than there is credit",
		 true,
		 true,
		 {.src_cid = CID, .dst_cid = 2, .type = 1, .op = VSOCK_OP_RW, .len = VSOCK_BUFFER + 1},
		 VSOCK_BUFFER + 1},
		{"data without a connection",
		 false,
		 false,
		 {.src_cid = CID, .dst_cid = 2, .type = 1, .op = VSOCK_OP_RW, .len = 4},
		 4},
		{"shutdown without a connection",
		 false,
		 false,
		 {.src_cid = CID, .dst_cid = 2, .type = 1, .op = VSOCK_OP_SHUTDOWN},
		 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		struct vsock_header h = hostile[i].h, answer;
		int fd = hostile[i].connected ? connected() : -1;

		h.src_port = GUEST_PORT;
		h.dst_port = HOST_PORT;
		h.buf_alloc = ROOM;
		put(&h, big, hostile[i].payload);
		if (!next(&answer, NULL))
			fail_msg("%s: no answer", hostile[i].what);
		assert_int_equal(answer.op, VSOCK_OP_RST);
		expect_nothing();
		assert_null(rig->why);
		if (hostile[i].known) {
			expect_end(fd);
		} else if (hostile[i].connected) {
			/* The packet belonged to no connection, so the existing connection goes on. */
			send_data("still", 5);
			expect_bytes(fd, "still", 5);
			send_op(VSOCK_OP_RST);
		}
		if (fd >= 0)
			close(fd);
	}
}

/* The device never answers an RST. */
static void test_reset_of_nothing(void **state)
{
	struct vsock_header h = packet(VSOCK_OP_RST);

	(void)state;
	put(&h, NULL, 0);
	h.src_cid = 99;
	put(&h, NULL, 0);
	expect_nothing();
}

static void test_reset_closes(void **state)
{
	int fd = connected();

	(void)state;
	send_op(VSOCK_OP_RST);
	expect_end(fd);
	expect_nothing();
	close(fd);
}

/* The device sends no more bytes than the guest has room for. */
static void test_credit_of_the_guest(void **state)
{
	struct vsock_header h = packet(VSOCK_OP_REQUEST);
	unsigned char payload[RX_BUFFER];
	int fd;

	(void)state;
	h.buf_alloc = 100;
	put(&h, NULL, 0);
	expect_op(VSOCK_OP_RESPONSE, 0);
	fd = accept(listener, NULL, NULL);
	memset(payload, 'x', sizeof(payload));
	assert_int_equal(send(fd, payload, 250, 0), 250);
	assert_true(next(&h, payload));
	assert_int_equal(h.len, 100);
	assert_true(next(&h, payload));
	assert_int_equal(h.op, VSOCK_OP_CREDIT_REQUEST);
	expect_nothing();
	h = packet(VSOCK_OP_CREDIT_UPDATE);
	h.buf_alloc = 100;
	h.fwd_cnt = 60;
	put(&h, NULL, 0);
	assert_true(next(&h, payload));
	assert_int_equal(h.len, 60);
	expect_op(VSOCK_OP_CREDIT_REQUEST, 0);
	/* A guest that reports more taken bytes than it got has no room. */
	h = packet(VSOCK_OP_CREDIT_UPDATE);
	h.buf_alloc = 100;
	h.fwd_cnt = 5000;
	put(&h, NULL, 0);
	expect_nothing();
	h.fwd_cnt = 160;
	put(&h, NULL, 0);
	assert_true(next(&h, payload));
	assert_int_equal(h.len, 90);
	close(fd);
}

/* The device holds up to VSOCK_BUFFER bytes that a program of the host has not read. All of them arrive when it reads. */
static void test_credit_of_the_host(void **state)
{
	static unsigned char data[VSOCK_BUFFER], got[4096];
	uint32_t sent = 0, read_back = 0, credit_at = 0;
	struct vsock_header h;
	int fd = connected();
	ssize_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 % 251);
	/* This driver follows the credit: it sends while it has credit. */
	for (;;) {
		while (next(&h, NULL)) {
			assert_int_equal(h.op, VSOCK_OP_CREDIT_UPDATE);
			credit_at = h.fwd_cnt;
		}
		if (sent - credit_at > VSOCK_BUFFER - 4016)
			break;
		send_data(data + sent % 4016, 4016);
		sent += 4016;
	}
	assert_in_range(sent, VSOCK_BUFFER - 4016, 8 * VSOCK_BUFFER);
	while ((n = recv(fd, got, sizeof(got), MSG_DONTWAIT)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			uint32_t at = read_back + (uint32_t)i, chunk = at / 4016 * 4016;

			assert_int_equal(got[i], data[chunk % 4016 + at - chunk]);
		}
		read_back += (uint32_t)n;
		rig_work();
	}
	assert_int_equal(read_back, sent);
	while (next(&h, NULL))
		credit_at = h.fwd_cnt;
	assert_in_range(credit_at, sent - VSOCK_BUFFER / 2 + 1, sent);
	/* The device answers a credit request at once. */
	send_op(VSOCK_OP_CREDIT_REQUEST);
	assert_true(next(&h, NULL));
	assert_int_equal(h.op, VSOCK_OP_CREDIT_UPDATE);
	assert_int_equal(h.fwd_cnt, sent);
	close(fd);
}

static void test_overrun_of_the_host(void **state)
{
	static unsigned char data[4096];
	struct vsock_header h;
	unsigned packets = 0;
	int fd = connected();

	(void)state;
	/* This driver ignores the credit, and goes on sending. */
	do {
		send_data(data, sizeof(data));
		packets++;
		h.op = 0;
		while (h.op != VSOCK_OP_RST && next(&h, NULL))
			;
	} while (h.op != VSOCK_OP_RST && packets < 1000);
	assert_in_range(packets, VSOCK_BUFFER / 4096, 999);
	close(fd);
}

static void test_guest_shuts_down(void **state)
{
	struct vsock_header h = packet(VSOCK_OP_SHUTDOWN);
	int fd = connected();

	(void)state;
	send_data("last", 4);
	h.flags = VSOCK_NO_SEND;
	put(&h, NULL, 0);
	expect_bytes(fd, "last", 4);
	expect_end(fd);
	/* The other direction goes on. */
	assert_int_equal(send(fd, "answer", 6, 0), 6);
	assert_true(next(&h, NULL));
	assert_int_equal(h.op, VSOCK_OP_RW);
	assert_int_equal(h.len, 6);
	/* After the other direction is shut, too, the connection ends. */
	h = packet(VSOCK_OP_SHUTDOWN);
	h.flags = VSOCK_NO_RECEIVE;
	put(&h, NULL, 0);
	expect_op(VSOCK_OP_RST, 0);
	assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), -1);
	close(fd);
	/* The guest sends data after it has shut down sending. */
	fd = connected();
	h.flags = VSOCK_NO_SEND;
	put(&h, NULL, 0);
	send_data("x", 1);
	expect_op(VSOCK_OP_RST, 0);
	close(fd);
}

static void test_shutdown_waits_for_the_host(void **state)
{
	static unsigned char data[4096];
	struct vsock_header h;
	uint32_t sent = 0, credit_at = 0, got = 0;
	int fd = connected();
	ssize_t n;

	(void)state;
	for (;;) {
		while (next(&h, NULL))
			credit_at = h.fwd_cnt;
		if (sent - credit_at > VSOCK_BUFFER - sizeof(data))
			break;
		send_data(data, sizeof(data));
		sent += sizeof(data);
	}
	h = packet(VSOCK_OP_SHUTDOWN);
	h.flags = VSOCK_NEITHER;
	put(&h, NULL, 0);
	expect_nothing(); /* The device still holds some bytes for the program. */
	while ((n = recv(fd, data, sizeof(data), MSG_DONTWAIT)) > 0) {
		got += (uint32_t)n;
		rig_work();
	}
	assert_int_equal(n, 0);
	assert_int_equal(got, sent);
	do
		assert_true(next(&h, NULL));
	while (h.op == VSOCK_OP_CREDIT_UPDATE);
	assert_int_equal(h.op, VSOCK_OP_RST);
	close(fd);
}

static void test_host_shuts_down(void **state)
{
	struct vsock_header h;
	int fd = connected();

	(void)state;
	assert_int_equal(send(fd, "last", 4, 0), 4);
	assert_return_code(shutdown(fd, SHUT_WR), 0);
	assert_true(next(&h, NULL));
	assert_int_equal(h.len, 4);
	expect_op(VSOCK_OP_SHUTDOWN, VSOCK_NO_SEND);
	send_data("answer", 6);
	expect_bytes(fd, "answer", 6);
	close(fd);
	expect_op(VSOCK_OP_SHUTDOWN, VSOCK_NEITHER);
	expect_nothing();
	send_op(VSOCK_OP_RST);
	expect_nothing();
	/* The same port is free again. */
	close(connected());
	expect_op(VSOCK_OP_SHUTDOWN, VSOCK_NEITHER);
	/* A guest that still sends gets an RST: the connection does not exist. */
	send_data("x", 1);
	expect_op(VSOCK_OP_RST, 0);
}

/* If a driver gives no receive buffers, the device keeps a bounded number of answers, and takes no more packets. */
static void test_answers_are_bounded(void **state)
{
	struct vsock_header h = packet(VSOCK_OP_RW);
	uint16_t head;
	uint32_t len;
	unsigned taken = 0, answers = 0;

	(void)state;
	rig_reset();
	rig_activate();
	for (unsigned i = 0; i < 200; i++)
		put(&h, NULL, 0);
	while (rig_used(TRANSMIT, &head, &len))
		taken++;
	assert_in_range(taken, 1, 100);
	add_buffers();
	while (next(&h, NULL)) {
		assert_int_equal(h.op, VSOCK_OP_RST);
		answers++;
	}
	assert_int_equal(answers, 200);
	while (rig_used(TRANSMIT, &head, &len))
		taken++;
	assert_int_equal(taken, 200);
}

static void test_connections_are_bounded(void **state)
{
	struct vsock_header h = packet(VSOCK_OP_REQUEST);

	(void)state;
	for (unsigned i = 0; i < VSOCK_CONNECTIONS + 1; i++) {
		h = packet(VSOCK_OP_REQUEST);
		h.src_port = 10000 + i;
		put(&h, NULL, 0);
		assert_true(next(&h, NULL));
		assert_int_equal(h.op, i < VSOCK_CONNECTIONS ? VSOCK_OP_RESPONSE : VSOCK_OP_RST);
	}
	close(call_device("CONNECT 5000\n"));
	expect_nothing();
	/* One connection ends, so another one fits. */
	h = packet(VSOCK_OP_RST);
	h.src_port = 10000;
	put(&h, NULL, 0);
	send_op(VSOCK_OP_REQUEST);
	expect_op(VSOCK_OP_RESPONSE, 0);
}

/* While the process has no free file descriptor, connecting programs of the host wait. It accepts them when it has one. */
static void test_no_descriptor_for_a_call(void **state)
{
	struct sockaddr_un a = address(path);
	struct rlimit limit, none;
	struct vsock_header h;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	bool came = false;

	(void)state;
	assert_return_code(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
	assert_return_code(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_return_code(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(send(fd, "CONNECT 5000\n", 13, MSG_NOSIGNAL), 13);
	expect_nothing();
	assert_return_code(setrlimit(RLIMIT_NOFILE, &limit), 0);
	/* No other event wakes the device meanwhile. */
	for (int i = 0; i < 6000 && !came; i++) {
		usleep(10000);
		came = next(&h, NULL);
	}
	assert_true(came);
	assert_int_equal(h.op, VSOCK_OP_REQUEST);
	assert_int_equal(h.dst_port, GUEST_PORT);
	close(fd);
}

static void test_malformed_requests(void **state)
{
	static const struct {
		unsigned queue;
		unsigned count;
		struct rig_buffer buffer[2];
	} wrong[] = {
		{TRANSMIT, 1, {{TX_AT, HEADER - 1, false}}},
		{TRANSMIT, 2, {{TX_AT, HEADER, false}, {TX_AT + 0x1000, 64, true}}},
		{TRANSMIT, 1, {{TX_AT, HEADER, true}}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		rig_add(wrong[i].queue, wrong[i].buffer, wrong[i].count);
		rig_kick(wrong[i].queue);
		assert_non_null(rig->why);
		rig_reset();
		rig_activate();
	}
	/* A receive buffer without room for a header, or one that the device may only read. */
	for (unsigned i = 0; i < 2; i++) {
		rig_add(RECEIVE, &(struct rig_buffer){RX_AT, HEADER - !i, i == 0}, 1);
		rig_kick(RECEIVE);
		assert_null(rig->why);
		send_op(VSOCK_OP_RW);
		assert_non_null(rig->why);
		rig_reset();
		rig_activate();
	}
	/* A buffer with room for a header only takes control packets, and no data. */
	add_buffer(RX_AT, HEADER);
	send_op(VSOCK_OP_RW);
	assert_null(rig->why);
	assert_int_equal(((struct vsock_header *)rig_at(RX_AT))->op, VSOCK_OP_RST);
	add_buffers();
	close(connected());
}

static void test_device_reset(void **state)
{
	int guest_began = connected(), host_began = call_device("CONNECT 5000\n");

	(void)state;
	rig_reset();
	expect_end(guest_began);
	assert_true(recv(host_began, &(char){0}, 1, MSG_DONTWAIT) <= 0);
	close(guest_began);
	close(host_began);
	rig_activate();
	add_buffers();
	expect_nothing();
	close(connected());
}

struct seen {
	uint64_t bytes[DEVICE_OPS];
};

static void on_segment(void *ctx, const struct device_access *access)
{
	struct seen *seen = ctx;

	seen->bytes[access->request.op] += access->len;
	assert_int_equal(access->write, access->request.op == DEVICE_VSOCK_RECEIVE);
}

static void on_ring(void *ctx, const struct device_access *access)
{
	(void)ctx;
	(void)access;
}

static void test_flights_are_announced(void **state)
{
	struct seen seen = {0};
	const struct device_observer observer = {.segment = on_segment, .ring = on_ring, .ctx = &seen};
	struct vsock_header h;
	int fd = connected();

	(void)state;
	dma_observe(&rig->dma, &observer);
	dma_watch(&rig->dma, UINT64_MAX);
	send_data("1234567", 7);
	assert_int_equal(send(fd, "123", 3, 0), 3);
	assert_true(next(&h, NULL));
	dma_watch(&rig->dma, 0);
	dma_observe(&rig->dma, NULL);
	assert_int_equal(seen.bytes[DEVICE_VSOCK_TRANSMIT], HEADER + 7);
	assert_int_equal(seen.bytes[DEVICE_VSOCK_RECEIVE], HEADER + 3);
	close(fd);
}

/* For any headers and payloads, the device goes on working, and keeps its bounds. */
static void test_any_packets(void **state)
{
	static unsigned char payload[300];
	struct vsock_header h;
	int fds[64], count = 0;

	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		struct vsock_header any = packet((enum vsock_op)(rand() % 9));
		uint32_t len = rand() % 4 ? 0 : (uint32_t)rand() % sizeof(payload);

		any.src_port = GUEST_PORT + (uint32_t)rand() % 4;
		any.flags = (uint32_t)rand() % 5;
		any.len = rand() % 8 ? len : (uint32_t)rand();
		any.buf_alloc = rand() % 4 ? ROOM : (uint32_t)rand();
		any.fwd_cnt = rand() % 4 ? 0 : (uint32_t)rand();
		if (!(rand() % 32))
			any.src_cid ^= 1u << rand() % 8;
		if (!(rand() % 32))
			any.type ^= 1u << rand() % 8;
		put(&any, payload, len);
		while (next(&h, NULL))
			;
		assert_null(rig->why);
		if (rand() % 16 == 0) {
			int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);

			if (fd >= 0 && count < 64)
				fds[count++] = fd;
			else if (fd >= 0)
				close(fd);
		}
		if (count && rand() % 32 == 0)
			close(fds[--count]);
		if (count && send(fds[rand() % count], payload, sizeof(payload), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			rig_work();
	}
	while (count)
		close(fds[--count]);
}

static int no_listener_setup(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "%s/vm", folder);
	rig = rig_init();
	return 0;
}

static int no_listener_teardown(void **state)
{
	(void)state;
	rig_destroy();
	return 0;
}

static void test_the_socket(void **state)
{
	struct vmm_config config = {.vsock_cid = CID, .vsock_socket = path};
	char longest[128];
	struct err err = {0};
	struct stat st;
	int stale = listen_on(path), ordinary;

	(void)state;
	/* The path is in use. */
	assert_null(virtio_vsock_new(&rig->bus, &config, 0, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "is in use"));
	assert_int_equal(access(path, F_OK), 0);
	/* The socket was left by a machine that was killed. */
	close(stale);
	err = (struct err){0};
	vsock = virtio_vsock_new(&rig->bus, &config, 0, &err);
	assert_non_null(vsock);
	assert_return_code(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	virtio_vsock_free(vsock);
	assert_int_equal(access(path, F_OK), -1);
	/* The device leaves a file that is no socket alone. */
	ordinary = creat(path, 0600);
	assert_true(ordinary >= 0);
	close(ordinary);
	assert_null(virtio_vsock_new(&rig->bus, &config, 0, &err));
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	/* "PATH_4294967295", the path of the highest port, has to fit, too. */
	for (size_t len = 90; len < 108; len++) {
		memset(longest, 'x', sizeof(longest));
		memcpy(longest, folder, strlen(folder));
		longest[strlen(folder)] = '/';
		longest[len] = '\0';
		config.vsock_socket = longest;
		err = (struct err){0};
		vsock = virtio_vsock_new(&rig->bus, &config, 0, &err);
		assert_int_equal(vsock != NULL, len <= 96);
		assert_int_equal(err.code, vsock ? EXIT_OK : EXIT_INPUT);
		virtio_vsock_free(vsock);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_configuration),
		TEST(test_guest_calls),
		TEST(test_host_calls),
		TEST(test_host_call_in_pieces_and_wrong),
		TEST(test_guest_refuses),
		TEST(test_nobody_listens),
		TEST(test_hostile_packets),
		TEST(test_reset_of_nothing),
		TEST(test_reset_closes),
		TEST(test_credit_of_the_guest),
		TEST(test_credit_of_the_host),
		TEST(test_overrun_of_the_host),
		TEST(test_guest_shuts_down),
		TEST(test_shutdown_waits_for_the_host),
		TEST(test_host_shuts_down),
		TEST(test_answers_are_bounded),
		TEST(test_connections_are_bounded),
		TEST(test_no_descriptor_for_a_call),
		TEST(test_malformed_requests),
		TEST(test_device_reset),
		TEST(test_flights_are_announced),
		TEST(test_any_packets),
		cmocka_unit_test_setup_teardown(test_the_socket, no_listener_setup, no_listener_teardown),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
