// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two tasks, one on each CPU, make, bind, connect, listen, accept, send, receive, shut down and close sockets of one family, drawn
 * at random from a few that they share. The family is the word after "family=" on the kernel's command line.
 */
#include "../real-bugs/netlink.h"

#include <arpa/inet.h>
#include <linux/can/isotp.h>
#include <linux/can/j1939.h>
#include <linux/if_arp.h>
#include <linux/llc.h>
#include <linux/rds.h>
#include <linux/tipc.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netrom/netrom.h>
#include <netrose/rose.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/ioctl.h>

#define SLOTS 8
#define ADDRESSES 4
#define BYTES 512
/* BTPROTO_RFCOMM and BTPROTO_SCO of Linux's bluetooth.h. */
#define BT_RFCOMM 3
#define BT_SCO 2

/* An address of the family. */
struct place {
	union {
		struct sockaddr any;
		struct sockaddr_storage storage;
		struct sockaddr_in in;
		struct sockaddr_rose rose;
		struct full_sockaddr_ax25 ax25;
		struct sockaddr_llc llc;
		struct sockaddr_tipc tipc;
		struct sockaddr_vm vm;
		struct sockaddr_can can;
		unsigned char bytes[64];
	};
	socklen_t len;
};

static char mac[2][6];
static int can_index;

static void call_sign(ax25_address *a, unsigned number)
{
	for (int i = 0; i < 6; i++)
		a->ax25_call[i] = (char)('A' << 1);
	a->ax25_call[6] = (char)(number << 1);
}

static void rose_place(struct place *p, unsigned n)
{
	p->rose.srose_family = AF_ROSE;
	call_sign(&p->rose.srose_call, n);
	p->len = sizeof(p->rose);
}

static void rose_set_up(void)
{
	need(nl_link_up(nl_open(NETLINK_ROUTE), "rose0", true), "bring rose0 up");
	write_text("/proc/sys/net/rose/no_activity_timeout", "1");
}

static void netrom_place(struct place *p, unsigned n)
{
	(void)n;
	p->ax25.fsa_ax25.sax25_family = AF_NETROM;
	call_sign(&p->ax25.fsa_ax25.sax25_call, 1);
	p->len = sizeof(struct sockaddr_ax25);
}

static void netrom_set_up(void)
{
	struct ifreq r = {.ifr_name = "nr0"};
	int fd = need(socket(AF_INET, SOCK_DGRAM, 0), "make a socket");
	ax25_address a;

	call_sign(&a, 1);
	r.ifr_hwaddr.sa_family = ARPHRD_NETROM;
	memcpy(r.ifr_hwaddr.sa_data, &a, sizeof(a));
	need(ioctl(fd, SIOCSIFHWADDR, &r), "set nr0's address");
	need(nl_link_up(nl_open(NETLINK_ROUTE), "nr0", true), "bring nr0 up");
}

static void veth_set_up(void)
{
	static const char *const names[] = {"link0", "veth0"};
	int rt = nl_open(NETLINK_ROUTE), fd = need(socket(AF_INET, SOCK_DGRAM, 0), "make a socket");

	need(nl_link_add(rt, "link0", "veth"), "make link0");
	for (int i = 0; i < 2; i++) {
		struct ifreq r = {0};

		strcpy(r.ifr_name, names[i]);
		need(nl_link_up(rt, names[i], true), "bring a veth up");
		need(ioctl(fd, SIOCGIFHWADDR, &r), "read a veth's address");
		memcpy(mac[i], r.ifr_hwaddr.sa_data, 6);
	}
}

static void llc_place(struct place *p, unsigned n)
{
	p->llc.sllc_family = AF_LLC;
	p->llc.sllc_arphrd = ARPHRD_ETHER;
	p->llc.sllc_sap = (unsigned char)(0x20 + 4 * (n / 2));
	memcpy(p->llc.sllc_mac, mac[n % 2], 6);
	p->len = sizeof(p->llc);
}

static void tipc_place(struct place *p, unsigned n)
{
	p->tipc.family = AF_TIPC;
	p->tipc.addrtype = TIPC_SERVICE_ADDR;
	p->tipc.scope = TIPC_NODE_SCOPE;
	p->tipc.addr.name.name.type = 1000 + n;
	p->tipc.addr.name.name.instance = 1;
	p->len = sizeof(p->tipc);
}

static void in_place(struct place *p, unsigned n)
{
	p->in.sin_family = AF_INET;
	p->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	p->in.sin_port = htons((unsigned short)(4000 + n));
	p->len = sizeof(p->in);
}

static void vm_place(struct place *p, unsigned n)
{
	p->vm.svm_family = AF_VSOCK;
	p->vm.svm_cid = VMADDR_CID_LOCAL;
	p->vm.svm_port = 4000 + n;
	p->len = sizeof(p->vm);
}

static void j1939_place(struct place *p, unsigned n)
{
	p->can.can_family = AF_CAN;
	p->can.can_ifindex = can_index;
	p->can.can_addr.j1939.name = J1939_NO_NAME;
	p->can.can_addr.j1939.addr = (unsigned char)(0x20 + n);
	p->can.can_addr.j1939.pgn = 0x12300;
	p->len = sizeof(p->can);
}

static void isotp_place(struct place *p, unsigned n)
{
	p->can.can_family = AF_CAN;
	p->can.can_ifindex = can_index;
	p->can.can_addr.tp.rx_id = 0x100 + n;
	p->can.can_addr.tp.tx_id = 0x100 + (n ^ 1);
	p->len = sizeof(p->can);
}

static void can_set_up(void)
{
	int rt = nl_open(NETLINK_ROUTE);

	need(nl_link_add(rt, "vcan0", "vcan"), "make vcan0");
	need(nl_link_up(rt, "vcan0", true), "bring vcan0 up");
	can_index = (int)if_nametoindex("vcan0");
}

/* Addresses of Bluetooth, as bytes: no package that the tests install has its headers. */
static void bt_l2cap_place(struct place *p, unsigned n)
{
	p->any.sa_family = AF_BLUETOOTH;
	p->bytes[2] = (unsigned char)(0x81 + 2 * n);
	p->bytes[3] = 0x10;
	p->len = 14;
}

static void bt_rfcomm_place(struct place *p, unsigned n)
{
	p->any.sa_family = AF_BLUETOOTH;
	p->bytes[8] = (unsigned char)(n + 1);
	p->len = 10;
}

static void bt_sco_place(struct place *p, unsigned n)
{
	(void)n;
	p->any.sa_family = AF_BLUETOOTH;
	p->len = 8;
}

static const struct kind {
	const char *name;
	int family, types[2], protocol;
	/* Makes the devices that the family needs. NULL: it needs none. */
	void (*set_up)(void);
	/* Sets *p, which is all zero, to address number `n`, below ADDRESSES. */
	void (*place)(struct place *p, unsigned n);
} kinds[] = {
	{"rose", AF_ROSE, {SOCK_SEQPACKET, SOCK_SEQPACKET}, 0, rose_set_up, rose_place},
	{"netrom", AF_NETROM, {SOCK_SEQPACKET, SOCK_SEQPACKET}, 0, netrom_set_up, netrom_place},
	{"llc", AF_LLC, {SOCK_STREAM, SOCK_DGRAM}, 0, veth_set_up, llc_place},
	{"tipc", AF_TIPC, {SOCK_SEQPACKET, SOCK_STREAM}, 0, NULL, tipc_place},
	{"rds", AF_RDS, {SOCK_SEQPACKET, SOCK_SEQPACKET}, 0, NULL, in_place},
	{"sctp", AF_INET, {SOCK_STREAM, SOCK_SEQPACKET}, IPPROTO_SCTP, NULL, in_place},
	{"dccp", AF_INET, {SOCK_DCCP, SOCK_DCCP}, IPPROTO_DCCP, NULL, in_place},
	{"smc", AF_SMC, {SOCK_STREAM, SOCK_STREAM}, 0, NULL, in_place},
	{"vsock", AF_VSOCK, {SOCK_STREAM, SOCK_STREAM}, 0, NULL, vm_place},
	{"j1939", AF_CAN, {SOCK_DGRAM, SOCK_DGRAM}, CAN_J1939, can_set_up, j1939_place},
	{"isotp", AF_CAN, {SOCK_DGRAM, SOCK_DGRAM}, CAN_ISOTP, can_set_up, isotp_place},
	{"l2cap", AF_BLUETOOTH, {SOCK_SEQPACKET, SOCK_STREAM}, 0, NULL, bt_l2cap_place},
	{"rfcomm", AF_BLUETOOTH, {SOCK_STREAM, SOCK_STREAM}, BT_RFCOMM, NULL, bt_rfcomm_place},
	{"sco", AF_BLUETOOTH, {SOCK_SEQPACKET, SOCK_SEQPACKET}, BT_SCO, NULL, bt_sco_place},
};

static const struct kind *kind;
static atomic_int slots[SLOTS];

static unsigned draw(unsigned below)
{
	static _Thread_local unsigned seed;

	if (!seed)
		seed = (unsigned)(uintptr_t)&seed >> 4 | 1;
	return (unsigned)rand_r(&seed) % below;
}

static void put(int fd)
{
	int old;

	if (fd < 0)
		return;
	old = atomic_exchange(&slots[draw(SLOTS)], fd);
	if (old >= 0)
		close(old);
}

static struct place any_place(void)
{
	struct place p = {0};

	kind->place(&p, draw(ADDRESSES));
	return p;
}

static void step(void *opaque)
{
	struct place p = any_place();
	int fd = atomic_load(&slots[draw(SLOTS)]), value = (int)draw(3);
	char bytes[BYTES] = {0};

	(void)opaque;
	switch (draw(16)) {
	case 0:
	case 1:
		put(socket(kind->family, kind->types[draw(2)] | SOCK_NONBLOCK | SOCK_CLOEXEC, kind->protocol));
		break;
	case 2:
	case 3:
		bind(fd, &p.any, p.len);
		break;
	case 4:
	case 5:
	case 6:
		connect(fd, &p.any, p.len);
		break;
	case 7:
		listen(fd, 4);
		break;
	case 8:
	case 9:
		put(accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
		break;
	case 10:
		send(fd, bytes, draw(BYTES), MSG_NOSIGNAL);
		break;
	case 11:
		sendto(fd, bytes, draw(BYTES), MSG_NOSIGNAL, &p.any, p.len);
		break;
	case 12:
		recv(fd, bytes, sizeof(bytes), 0);
		break;
	case 13:
		if (!draw(4))
			shutdown(fd, value);
		break;
	case 14:
		p.len = sizeof(p.storage);
		if (value)
			getsockname(fd, &p.any, &p.len);
		else
			getpeername(fd, &p.any, &p.len);
		break;
	default:
		poll(&(struct pollfd){.fd = fd, .events = POLLIN | POLLOUT}, 1, value);
	}
}

int main(void)
{
	char line[4096] = "", word[32] = "";
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	const char *at;

	need((int)read(fd, line, sizeof(line) - 1), "read the command line");
	at = strstr(line, "family=");
	if (at)
		sscanf(at, "family=%31s", word);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(kinds[i].name, word))
			kind = &kinds[i];
	}
	if (!kind)
		die("know the family %s", word);
	if (kind->set_up)
		kind->set_up();
	for (int i = 0; i < SLOTS; i++)
		slots[i] = need(socket(kind->family, kind->types[i % 2] | SOCK_NONBLOCK | SOCK_CLOEXEC, kind->protocol), "make a socket");
	repeat_both(step, step, NULL);
}
