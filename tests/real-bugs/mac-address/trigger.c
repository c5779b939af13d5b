/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread gives an interface two hardware addresses in turn, and the other asks for its address. */
#include "../trigger.h"

#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>

#define DEVICE "dummy0"

static int sockets[2];

static void set(void *opaque)
{
	static unsigned char last;
	struct ifreq r = {.ifr_name = DEVICE};

	(void)opaque;
	last ^= 0xff;
	r.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memset(r.ifr_hwaddr.sa_data, last, 6);
	r.ifr_hwaddr.sa_data[0] = 2; /* locally administered, and not of a group */
	need(ioctl(sockets[0], SIOCSIFHWADDR, &r), "set the address of " DEVICE);
}

static void get(void *opaque)
{
	struct ifreq r = {.ifr_name = DEVICE};

	(void)opaque;
	need(ioctl(sockets[1], SIOCGIFHWADDR, &r), "get the address of " DEVICE);
	/* All bytes of an address but the first are the same. */
	step_status = memcmp(&r.ifr_hwaddr.sa_data[1], &r.ifr_hwaddr.sa_data[2], 4) != 0 ? 2 : 0;
}

int main(void)
{
	for (int i = 0; i < 2; i++)
		sockets[i] = need(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "open a socket");
	set(NULL);
	repeat_both(set, get, NULL);
}
