/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both CPUs send frames on vcan0, each by its own socket; each of these receives what the other sends. */
#include "../netlink.h"

#include <linux/can.h>

static int can_raw(void)
{
	struct sockaddr_can at = {.can_family = AF_CAN, .can_ifindex = (int)if_nametoindex("vcan0")};
	int fd = need(socket(PF_CAN, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, CAN_RAW), "make a CAN socket");

	need(bind(fd, (const struct sockaddr *)&at, sizeof(at)), "bind a CAN socket to vcan0");
	return fd;
}

static void send_frame(int fd)
{
	struct can_frame frame = {.can_id = 0x42, .can_dlc = 8};

	if (write(fd, &frame, sizeof(frame)) < 0 && errno != ENOBUFS && errno != EAGAIN)
		die("send a frame");
	while (read(fd, &frame, sizeof(frame)) > 0)
		;
}

static void first(void *opaque)
{
	send_frame(((int *)opaque)[0]);
}

static void second(void *opaque)
{
	send_frame(((int *)opaque)[1]);
}

int main(void)
{
	int rt = nl_open(NETLINK_ROUTE), sockets[2];

	need(nl_link_add(rt, "vcan0", "vcan"), "make vcan0");
	need(nl_link_up(rt, "vcan0", true), "bring vcan0 up");
	sockets[0] = can_raw();
	sockets[1] = can_raw();
	repeat_both(first, second, sockets);
}
