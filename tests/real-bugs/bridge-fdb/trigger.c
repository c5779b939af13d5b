/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread gives a bridge and its port addresses such that an entry of the port becomes one of the bridge, which has no port.
 * The other reads the forwarding table.
 */
#include "../netlink.h"

#include <linux/sockios.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>

#define BRIDGE "br0"
#define PORT "port0"
#define TABLE "/sys/class/net/" BRIDGE "/brforward"

static void set_address(int s, const char *name, char last)
{
	struct ifreq request = {.ifr_hwaddr.sa_family = ARPHRD_ETHER, .ifr_hwaddr.sa_data = {2, 0, 0, 0, 0, last}};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	need(ioctl(s, SIOCSIFHWADDR, &request), "set an address");
}

/* The entry of address 1 is the port's, then the port leaves it to the bridge, which deletes it. */
static void change(void *opaque)
{
	int s = *(int *)opaque;

	if (!is_explored_step) {
		set_address(s, PORT, 1);
		set_address(s, BRIDGE, 1);
	}
	if (is_explored_step || !is_explored())
		set_address(s, PORT, 2);
	if (!is_explored())
		set_address(s, BRIDGE, 3);
}

static void read_table(void *opaque)
{
	char table[1024];
	int fd = need(open(TABLE, O_RDONLY | O_CLOEXEC), "open " TABLE);

	(void)opaque;
	for (int i = 0; i < times(100); i++)
		need((int)pread(fd, table, sizeof(table), 0), "read the table");
	close(fd);
}

int main(void)
{
	struct ifreq request = {.ifr_name = BRIDGE};
	int s = need(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "open a socket");

	need(nl_link_add(nl_open(NETLINK_ROUTE), PORT, "dummy"), "make the port");
	need(ioctl(s, SIOCBRADDBR, BRIDGE), "make the bridge");
	request.ifr_ifindex = (int)if_nametoindex(PORT);
	need(ioctl(s, SIOCBRADDIF, &request), "add the port to the bridge");
	change(&s);
	repeat_both(change, read_table, &s);
}
