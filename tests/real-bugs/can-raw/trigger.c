/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU 0 sends frames on vcan0, which are received there by the socket that CPU 1 makes, binds and closes. */
#include "../netlink.h"

#include <linux/can.h>

static struct sockaddr_can at = {.can_family = AF_CAN};

static int can_raw(void)
{
	int fd = need(socket(PF_CAN, SOCK_RAW | SOCK_CLOEXEC, CAN_RAW), "make a CAN socket");

	need(bind(fd, (const struct sockaddr *)&at, sizeof(at)), "bind a CAN socket to vcan0");
	return fd;
}

static void send_frame(void *opaque)
{
	struct can_frame frame = {.can_id = 0x42, .can_dlc = 8};

	if (write(*(int *)opaque, &frame, sizeof(frame)) < 0 && errno != ENOBUFS)
		die("send a frame");
}

static void receive_and_close(void *opaque)
{
	int fd = can_raw();

	(void)opaque;
	sched_yield();
	close(fd);
}

int main(void)
{
	int rt = nl_open(NETLINK_ROUTE), sender;

	need(nl_link_add(rt, "vcan0", "vcan"), "make vcan0");
	need(nl_link_up(rt, "vcan0", true), "bring vcan0 up");
	at.can_ifindex = (int)if_nametoindex("vcan0");
	sender = can_raw();
	repeat_both(send_frame, receive_and_close, &sender);
}
