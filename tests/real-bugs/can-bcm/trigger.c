/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU 0 starts a cyclic transmission of many frames, so that its timer expires there. CPU 1 then takes one frame after the
 * other off it. */
#include "../netlink.h"

#include <linux/can.h>
#include <linux/can/bcm.h>
#include <stdatomic.h>

#define FRAMES 64
#define PERIOD_US 1000

struct message {
	struct bcm_msg_head head;
	struct can_frame frames[FRAMES];
};

static int bcm;
static atomic_bool running;

/* Returns whether the kernel took it. `more` is TX_SETUP's flags. */
static bool set_up(unsigned int frames, unsigned int more)
{
	struct message m = {.head = {.opcode = TX_SETUP, .flags = more, .can_id = 0x42, .nframes = frames}};
	size_t size = sizeof(m.head) + frames * sizeof(m.frames[0]);

	m.head.ival2.tv_usec = PERIOD_US;
	for (unsigned int i = 0; i < frames; i++)
		m.frames[i] = (struct can_frame){.can_id = 0x42, .can_dlc = 8};
	return write(bcm, &m, size) == (ssize_t)size;
}

static void start(void *opaque)
{
	struct bcm_msg_head stop = {.opcode = TX_DELETE, .can_id = 0x42};

	(void)opaque;
	if (!atomic_load(&running)) {
		if (write(bcm, &stop, sizeof(stop)) < 0 && errno != EINVAL)
			die("end a transmission");
		if (!set_up(FRAMES, SETTIMER | STARTTIMER))
			die("set a transmission up");
		atomic_store(&running, true);
	}
	usleep(1000);
}

static void shrink(void *opaque)
{
	(void)opaque;
	if (!atomic_load(&running))
		return;
	for (unsigned int frames = FRAMES; frames > 0; frames--)
		for (int i = 0; i < 16; i++)
			set_up(frames, TX_RESET_MULTI_IDX);
	atomic_store(&running, false);
}

int main(void)
{
	struct sockaddr_can at = {.can_family = AF_CAN};
	int rt = nl_open(NETLINK_ROUTE);

	need(nl_link_add(rt, "vcan0", "vcan"), "make vcan0");
	need(nl_link_up(rt, "vcan0", true), "bring vcan0 up");
	bcm = need(socket(PF_CAN, SOCK_DGRAM | SOCK_CLOEXEC, CAN_BCM), "make a broadcast manager's socket");
	at.can_ifindex = (int)if_nametoindex("vcan0");
	need(connect(bcm, (const struct sockaddr *)&at, sizeof(at)), "connect it to vcan0");
	repeat_both(start, shrink, NULL);
}
