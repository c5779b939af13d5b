/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User-mode networking in its process: frames in both directions, back-pressure, and a process that dies or no longer answers.
 * The test is the guest and the worker's thread. test_net_slirp.c tests the network itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/sandbox/sandbox.h"
#include "hv/vmm/net/backend.h"
#include "hv/vmm/net/sockets.h"
#include "tests/unit/vmm/net_frames.h"
#include "tests/unit/vmm/net_watch.h"

struct guest {
	struct net_backend *b;
	pid_t process;
	bool full;	   /* it has no room for a frame */
	unsigned refused;  /* frames for which it had no room */
	unsigned sendable; /* calls of sendable() */
	unsigned lines;	   /* messages for the user */
	char line[512];	   /* the last message */
	unsigned count;	   /* frames that arrived */
	unsigned echoes;   /* replies to pings, each of which had the number that was due */
	char datagrams[64];
	size_t len;
	uint8_t frame[NET_FRAME_MAX];
};

static bool guest_receive(void *ctx, const struct virtio_net_hdr_v1 *hdr, const void *frame, size_t len)
{
	struct guest *g = ctx;

	(void)hdr;
	assert_in_range(len, NET_FRAME_MIN, NET_FRAME_MAX);
	if (g->full) {
		g->refused++;
		return false;
	}
	g->len = len;
	memcpy(g->frame, frame, len);
	g->count++;
	if (len >= 43 && g->frame[23] == IPPROTO_UDP && g->frame[38] == 0 && g->frame[39] == 9)
		g->datagrams[strlen(g->datagrams)] = (char)g->frame[42];
	if (len >= 42 && g->frame[23] == IPPROTO_ICMP && g->frame[34] == 0 &&
	    (unsigned)(g->frame[40] << 8 | g->frame[41]) == g->echoes % 65536)
		g->echoes++;
	return true;
}

static void guest_received(void *ctx)
{
	(void)ctx;
}

static void guest_sendable(void *ctx)
{
	((struct guest *)ctx)->sendable++;
}

static void take_line(void *ctx, const char *line)
{
	struct guest *g = ctx;

	g->lines++;
	snprintf(g->line, sizeof(g->line), "%s", line);
}

/* The only child of the test's thread (proc(5), /proc/PID/task/TID/children). */
static pid_t only_child(void)
{
	FILE *f = fopen("/proc/thread-self/children", "r");
	pid_t pid = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	return pid;
}

static struct guest *guest_with(const struct vmm_net *net)
{
	struct guest *g = calloc(1, sizeof(*g));
	const struct vmm_messages notes = {take_line, g};
	struct err err = {0};

	assert_non_null(g);
	g->b = net_user_new(net, &notes, &err);
	if (!g->b)
		fail_msg("%s", err.text);
	g->process = only_child();
	g->b->peer =
		(struct net_peer){.receive = guest_receive, .received = guest_received, .sendable = guest_sendable, .ctx = g};
	g->b->ops->start(g->b, 0);
	return g;
}

static struct guest *new_guest(void)
{
	return guest_with(&(struct vmm_net){.kind = VMM_NET_USER});
}

static void free_guest(struct guest *g)
{
	g->b->ops->stop(g->b);
	assert_int_equal(watched.fd, -1);
	g->b->ops->free(g->b);
	/* The process has ended, and its parent has reaped it. */
	assert_int_equal(kill(g->process, 0), -1);
	free(g);
}

static bool send_plain(struct guest *g, const uint8_t *frame, size_t len)
{
	struct iovec piece[2] = {{(void *)frame, len / 3}, {(void *)(frame + len / 3), len - len / 3}};

	return g->b->ops->send(g->b, &(struct virtio_net_hdr_v1){0}, piece, 2);
}

static void ask_for_gateway(struct guest *g)
{
	static const uint8_t request[42] = "\xff\xff\xff\xff\xff\xff\x02\x6f\x75\x74\x00\x01\x08\x06\x00\x01\x08\x00\x06\x04"
					   "\x00\x01\x02\x6f\x75\x74\x00\x01"
					   "\x0a\x00\x02\x0f\x00\x00\x00\x00\x00\x00\x0a\x00\x02\x02";

	assert_true(send_plain(g, request, sizeof(request)));
}

/* Tell libslirp, by an ARP request for the gateway, where 10.0.2.15 is, and wait for the reply. */
static void say_hello(struct guest *g)
{
	ask_for_gateway(g);
	do {
		g->len = 0;
		assert_true(run_worker(PATIENCE_MS));
	} while (g->len < 42 || g->frame[12] != 8 || g->frame[13] != 6);
	assert_memory_equal(g->frame + 22, "\x52\x55\x0a\0\x02\x02", 6);
}

static void test_frames(void **state)
{
	struct guest *g = new_guest();

	(void)state;
	say_hello(g);
	free_guest(g);
}

/* ---- back-pressure ---- */

static unsigned free_udp_port(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	getsockname(fd, (struct sockaddr *)&at, &len);
	close(fd);
	return ntohs(at.sin_port);
}

/* Frames wait, in order, for a guest without room. */
static void test_guest_without_room(void **state)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct vmm_forward f = {.udp = true, .address = at.sin_addr, .guest_port = 514};
	struct guest *g;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	(void)state;
	f.port = (uint16_t)free_udp_port();
	at.sin_port = htons(f.port);
	g = guest_with(&(struct vmm_net){.forwards = &f, .count = 1});
	say_hello(g);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	g->full = true;
	for (char letter = 'a'; letter <= 'z'; letter++)
		assert_int_equal(write(fd, &letter, 1), 1);
	while (!g->refused)
		assert_true(run_worker(PATIENCE_MS));
	assert_int_equal(watched.fd, -1);
	g->b->ops->resume(g->b); /* the guest has no room yet */
	assert_int_equal(g->refused, 2);
	assert_int_equal(watched.fd, -1);
	g->full = false;
	g->b->ops->resume(g->b);
	while (strlen(g->datagrams) < 26)
		assert_true(run_worker(PATIENCE_MS));
	assert_string_equal(g->datagrams, "abcdefghijklmnopqrstuvwxyz");
	close(fd);
	free_guest(g);
}

static bool ping(struct guest *g, unsigned number)
{
	uint8_t frame[1514] = {0};

	frames_ip4(frame, "10.0.2.15", "10.0.2.2", IPPROTO_ICMP, 1500);
	memcpy(frame, "\x52\x55\x0a\x00\x02\x02\x02\x6f\x75\x74\x00\x01", 12);
	frame[34] = 8; /* echo request */
	frame[40] = (uint8_t)(number >> 8);
	frame[41] = (uint8_t)number;
	*(uint16_t *)(frame + 36) = htons((uint16_t)~frames_sum(frame + 34, 1480, 0));
	return send_plain(g, frame, sizeof(frame));
}

/* While the process does not read, the guest waits, and no frame is lost. */
static void test_process_that_does_not_read(void **state)
{
	struct guest *g = new_guest();
	unsigned sent = 0;

	(void)state;
	say_hello(g);
	assert_int_equal(kill(g->process, SIGSTOP), 0);
	while (ping(g, sent++))
		;
	assert_in_range(sent, 20, 10000); /* some hundred KiB: the socket's buffer */
	assert_int_equal(g->b->dropped, 0);
	assert_int_equal(g->sendable, 0);
	assert_false(run_worker(0));
	assert_int_equal(kill(g->process, SIGCONT), 0);
	while (g->echoes < sent)
		assert_true(run_worker(PATIENCE_MS));
	assert_int_equal(g->sendable, 1);
	free_guest(g);
}

/* ---- a process that fails ---- */

/* The guest loses its network and the user gets one message. The run goes on. */
static void test_killed(void **state)
{
	struct guest *g = new_guest();

	(void)state;
	say_hello(g);
	assert_int_equal(kill(g->process, SIGKILL), 0);
	while (!g->lines)
		assert_true(run_worker(PATIENCE_MS));
	assert_non_null(
		strstr(g->line, "the guest has lost its network: its network process has ended; it was killed by signal 9"));
	assert_int_equal(watched.fd, -1);
	ask_for_gateway(g);
	assert_int_equal(g->b->dropped, 1);
	g->b->ops->stop(g->b);
	g->b->ops->start(g->b, 0);
	ask_for_gateway(g);
	assert_int_equal(g->b->dropped, 2);
	assert_int_equal(g->lines, 1);
	free_guest(g);
}

/* Returns 0 if the worker, confined as in a run, says how the process ended. */
static int worker_says_how(int report)
{
	struct guest *g = new_guest();

	say_hello(g);
	sandbox_thread(SANDBOX_NET);
	if (write(report, &g->process, sizeof(g->process)) != sizeof(g->process))
		return 1;
	while (!g->lines && run_worker(PATIENCE_MS))
		;
	return !strstr(g->line, "its network process has ended; it was killed by signal 9");
}

/* A confined worker outlives its network process: no system call that it needs then is forbidden. */
static void test_killed_beside_a_confined_worker(void **state)
{
	int report[2], status;
	pid_t run, process;

	(void)state;
	assert_int_equal(pipe(report), 0);
	run = fork();
	if (run == 0)
		_exit(worker_says_how(report[1]));
	assert_int_equal(read(report[0], &process, sizeof(process)), sizeof(process));
	assert_int_equal(kill(process, SIGKILL), 0);
	assert_int_equal(waitpid(run, &status, 0), run);
	assert_int_equal(status, 0);
	close(report[0]);
	close(report[1]);
}

/* Whether the process is gone, or waits to be reaped. */
static bool has_ended(pid_t pid)
{
	char path[40], text[256] = {0};
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return true;
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	return strstr(text, ") Z ") || strstr(text, ") X ");
}

/* When a run ends, its network process ends too, even if that process hangs. */
static void test_ends_with_the_run(void **state)
{
	int report[2];
	pid_t run, process;

	(void)state;
	assert_int_equal(pipe(report), 0);
	run = fork();
	if (run == 0) {
		struct guest *g = new_guest();

		kill(g->process, SIGSTOP);
		_exit(write(report[1], &g->process, sizeof(g->process)) != sizeof(g->process));
	}
	assert_int_equal(read(report[0], &process, sizeof(process)), sizeof(process));
	assert_int_equal(waitpid(run, NULL, 0), run);
	while (!has_ended(process))
		usleep(1000);
	close(report[0]);
	close(report[1]);
}

/* After the driver's reset the network works as before, and frames for the previous driver are dropped. */
static void test_start_again(void **state)
{
	struct guest *g = new_guest();

	(void)state;
	say_hello(g);
	g->full = true;
	for (unsigned i = 0; i < 3; i++)
		ask_for_gateway(g);
	while (!g->refused)
		assert_true(run_worker(PATIENCE_MS));
	g->b->ops->stop(g->b);
	assert_int_equal(watched.fd, -1);
	g->full = false;
	g->count = 0;
	g->b->ops->start(g->b, 0);
	say_hello(g);
	assert_int_equal(g->count, 1);
	free_guest(g);
}

/* If the process cannot start, the run reports the process's reason. */
static void test_port_of_nobody(void **state)
{
	struct vmm_forward f = {.port = 8080, .guest_port = 80};
	struct err err = {0};

	(void)state;
	inet_pton(AF_INET, "192.0.2.77", &f.address); /* a documentation address, which no host has (RFC 5737) */
	assert_null(net_user_new(&(struct vmm_net){.forwards = &f, .count = 1}, &(struct vmm_messages){0}, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "192.0.2.77"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_guest_without_room),
		cmocka_unit_test(test_process_that_does_not_read),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_killed_beside_a_confined_worker),
		cmocka_unit_test(test_ends_with_the_run),
		cmocka_unit_test(test_start_again),
		cmocka_unit_test(test_port_of_nobody),
	};

	signal(SIGPIPE, SIG_IGN);
	/* Confine the process as in a run. */
	if (sandbox_prepare(NULL, NULL, NULL) < 0)
		return 1;
	sandbox_finish();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
