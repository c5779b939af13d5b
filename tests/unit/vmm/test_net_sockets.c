/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events of its sockets libslirp gets. The test takes libslirp's place: it defines the two functions by which libslirp
 * says for which events it waits, and gets the events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hv/vmm/net/sockets.h"

static struct {
	int fd, asked; /* SLIRP_POLL_ bits */
	int index, told;
} slirp;

void slirp_pollfds_fill(Slirp *s, uint32_t *timeout, SlirpAddPollCb add_poll, void *opaque)
{
	(void)s;
	(void)timeout;
	slirp.index = add_poll(slirp.fd, slirp.asked, opaque);
}

void slirp_pollfds_poll(Slirp *s, int select_error, SlirpGetREventsCb get_revents, void *opaque)
{
	(void)s;
	assert_false(select_error);
	slirp.told = get_revents(slirp.index, opaque);
}

/* Make a connection and reset it at `end[1]`: end[0] is then readable and writable, and has an error and a hang-up. */
static void make_reset(int end[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct linger reset = {.l_onoff = 1};
	struct pollfd hung = {.events = 0};
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, 1), 0);
	getsockname(listener, (struct sockaddr *)&at, &len);
	end[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(end[0], (struct sockaddr *)&at, sizeof(at)), 0);
	end[1] = accept(listener, NULL, NULL);
	assert_true(end[1] >= 0);
	assert_int_equal(setsockopt(end[1], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
	close(end[1]);
	close(listener);
	hung.fd = end[0];
	assert_int_equal(poll(&hung, 1, 20000), 1);
}

static int told_of(int asked)
{
	struct net_sockets sockets;
	int end[2];

	make_reset(end);
	assert_int_equal(net_sockets_init(&sockets, NULL), 0);
	net_sockets_opened(&sockets, end[0]);
	slirp.fd = end[0];
	slirp.asked = asked;
	net_sockets_prepare(&sockets, NULL);
	net_sockets_serve(&sockets, NULL);
	net_sockets_closing(&sockets, end[0]);
	close(end[0]);
	net_sockets_destroy(&sockets);
	return slirp.told;
}

/*
 * libslirp that waits only to write has no room to read into. soread() of libslirp 4.7 is called for an error or a hang-up too,
 * and asserts that there is room.
 */
static void test_writer_is_not_told_to_read(void **state)
{
	(void)state;
	assert_int_equal(told_of(SLIRP_POLL_OUT | SLIRP_POLL_ERR), SLIRP_POLL_OUT);
}

static void test_reader_is_told_of_a_reset(void **state)
{
	int told = told_of(SLIRP_POLL_IN | SLIRP_POLL_HUP | SLIRP_POLL_ERR);

	(void)state;
	assert_int_equal(told, SLIRP_POLL_IN | SLIRP_POLL_HUP | SLIRP_POLL_ERR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writer_is_not_told_to_read),
		cmocka_unit_test(test_reader_is_told_of_a_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
