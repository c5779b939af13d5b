/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A few ROSE sockets are connected to a listening one by rose0's loopback, and their idle timers end each connection within a
 * tick or two. Both CPUs connect every socket anew that is not just being connected, and so own sockets whose timers fire.
 */
#include "../netlink.h"

#include <netrose/rose.h>
#include <poll.h>

#define COUNT 8
#define IDLE "/proc/sys/net/rose/no_activity_timeout"

static struct pollfd calls[COUNT];
static int listener;

static struct sockaddr_rose address(char last)
{
	struct sockaddr_rose a = {.srose_family = AF_ROSE};

	/* An AX.25 callsign: six letters shifted left, and the number of the station. */
	for (int i = 0; i < 6; i++)
		a.srose_call.ax25_call[i] = (char)('A' << 1);
	a.srose_call.ax25_call[6] = (char)(last << 1);
	return a;
}

static int bound(char last)
{
	struct sockaddr_rose a = address(last);
	int fd = need(socket(AF_ROSE, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "make a ROSE socket");

	need(bind(fd, (const struct sockaddr *)&a, sizeof(a)), "bind a ROSE socket");
	return fd;
}

static void call(void *opaque)
{
	struct sockaddr_rose to = address(0);
	struct pollfd now[COUNT];
	int child;

	(void)opaque;
	memcpy(now, calls, sizeof(now));
	poll(now, COUNT, 1);
	/* A socket that waits for its call to be accepted is neither writable nor hung up. */
	for (int i = 0; i < COUNT; i++)
		if (now[i].revents & (POLLOUT | POLLHUP))
			connect(now[i].fd, (const struct sockaddr *)&to, sizeof(to));
	child = accept(listener, NULL, NULL);
	if (child >= 0)
		close(child);
}

int main(void)
{
	int rt = nl_open(NETLINK_ROUTE);

	need(nl_link_up(rt, "rose0", true), "bring rose0 up");
	if (!write_text(IDLE, "1"))
		die("set " IDLE);
	listener = bound(0);
	need(listen(listener, 2 * COUNT), "listen on a ROSE socket");
	for (int i = 0; i < COUNT; i++)
		calls[i] = (struct pollfd){.fd = bound((char)(1 + i)), .events = POLLOUT};
	repeat_both(call, call, NULL);
}
