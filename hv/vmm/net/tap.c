/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exchanges frames with a tap interface of the host (Linux' Documentation/networking/tuntap.rst). The header in front of each
 * frame is the one that the guest's driver writes and reads (IFF_VNET_HDR), so the host's kernel or its network card computes
 * checksums and cuts segments when that is needed. The guest chose the header's values, and the host's kernel checks them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hv/base/fnv1a.h"
#include "hv/vmm/net/backend.h"

#define BURST 64 /* frames to read before the worker serves its other file descriptors */

struct net_tap {
	struct net_backend base;
	int fd;
	bool started;
	bool waiting; /* the guest has no room for the frame that was read last, and the tap is not watched */
	size_t len;   /* bytes of the frame that was read last */
	struct virtio_net_hdr_v1 hdr;
	uint8_t frame[NET_FRAME_MAX];
};

static struct net_tap *tap_of(struct net_backend *b)
{
	return (struct net_tap *)b;
}

static void serve_tap(void *ctx, uint32_t events);

static void watch(struct net_tap *t)
{
	if (!t->started || t->waiting)
		worker_unwatch(t->base.worker, t->fd);
	else
		worker_watch(t->base.worker, t->fd, EPOLLIN, serve_tap, t, NULL);
}

/* Read the next frame. Returns false if there is none now. For a frame that is too short, stores 0 as its length. */
static bool read_frame(struct net_tap *t)
{
	struct iovec part[] = {{&t->hdr, sizeof(t->hdr)}, {t->frame, sizeof(t->frame)}};
	ssize_t n = readv(t->fd, part, 2);

	if (n < 0)
		return false;
	t->len = (size_t)n < sizeof(t->hdr) + NET_FRAME_MIN ? 0 : (size_t)n - sizeof(t->hdr);
	return true;
}

static void serve_tap(void *ctx, uint32_t events)
{
	struct net_tap *t = ctx;
	struct net_peer *peer = &t->base.peer;

	(void)events;
	for (unsigned i = 0; i < BURST && read_frame(t); i++) {
		t->waiting = t->len && !peer->receive(peer->ctx, &t->hdr, t->frame, t->len);
		if (t->waiting) {
			watch(t);
			break;
		}
	}
	peer->received(peer->ctx);
}

static void tap_start(struct net_backend *b, uint64_t features)
{
	struct net_tap *t = tap_of(b);
	unsigned offload = 0;

	if (features & NET_BIT(VIRTIO_NET_F_GUEST_CSUM))
		offload |= TUN_F_CSUM;
	if (features & NET_BIT(VIRTIO_NET_F_GUEST_TSO4))
		offload |= TUN_F_TSO4;
	if (features & NET_BIT(VIRTIO_NET_F_GUEST_TSO6))
		offload |= TUN_F_TSO6;
	/* Cannot fail: find_offloads() has tried all these bits. */
	ioctl(t->fd, TUNSETOFFLOAD, offload);
	t->started = true;
	watch(t);
}

static void tap_stop(struct net_backend *b)
{
	struct net_tap *t = tap_of(b);

	if (!t->started)
		return;
	t->started = false;
	t->waiting = false;
	watch(t);
}

static bool tap_send(struct net_backend *b, const struct virtio_net_hdr_v1 *hdr, const struct iovec *piece, unsigned count)
{
	struct iovec part[1 + NET_PIECES_MAX];

	part[0] = (struct iovec){(void *)hdr, sizeof(*hdr)};
	memcpy(part + 1, piece, count * sizeof(*piece));
	/*
	 * writev() fails if the frame's header contradicts the frame, or while the interface is down. Drop the frame then, as a
	 * network does.
	 */
	if (writev(tap_of(b)->fd, part, (int)count + 1) < 0)
		b->dropped++;
	return true;
}

static void tap_resume(struct net_backend *b)
{
	struct net_tap *t = tap_of(b);

	if (!t->waiting || !b->peer.receive(b->peer.ctx, &t->hdr, t->frame, t->len))
		return;
	t->waiting = false;
	b->peer.received(b->peer.ctx);
	watch(t);
}

static void tap_free(struct net_backend *b)
{
	struct net_tap *t = tap_of(b);

	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

static const struct net_backend_ops tap_ops = {
	.start = tap_start,
	.stop = tap_stop,
	.send = tap_send,
	.resume = tap_resume,
	.free = tap_free,
};

/* ---- making one ---- */

/* Write the user's name, for a command line. A user without a name is written as a number, which `ip` accepts as well. */
static void user_name(char *buf, size_t size)
{
	const struct passwd *entry = getpwuid(geteuid());

	if (entry)
		snprintf(buf, size, "%s", entry->pw_name);
	else
		snprintf(buf, size, "%u", geteuid());
}

/* Write a message that says why TUNSETIFF failed with the error `why`, and which command helps. */
static int refuse(const char *name, int why, struct err *err)
{
	char user[64];

	user_name(user, sizeof(user));
	if (why == ENODEV)
		return err_set(
			err, EXIT_INPUT,
			"--net tap=%s: there is no such interface; make it as root:  ip tuntap add dev %s mode tap user %s",
			name, name, user);
	if (why == EPERM)
		return err_set(err, EXIT_INPUT,
			       "--net tap=%s: the interface is another user's; make one as root:  ip tuntap add dev NAME mode "
			       "tap user %s",
			       name, user);
	if (why == EBUSY)
		return err_set(err, EXIT_INPUT,
			       "--net tap=%s: another program uses the interface; make another interface as root:  ip tuntap "
			       "add dev NAME mode "
			       "tap user %s",
			       name, user);
	if (why == EINVAL)
		return err_set(err, EXIT_INPUT,
			       "--net tap=%s: the interface is no tap with a single queue; make another interface as root:  ip "
			       "tuntap add dev "
			       "NAME mode tap "
			       "user %s",
			       name, user);
	return err_set(err, EXIT_INPUT, "--net tap=%s: the host's kernel refuses the interface: %s", name, strerror(why));
}

/* Attach t->fd to the interface. Returns 0 or an errno value. Check first that the interface exists, because TUNSETIFF creates
 * a missing interface if the process has the right. */
static int attach(struct net_tap *t, const char *name)
{
	int header = sizeof(struct virtio_net_hdr_v1), little_endian = 1;
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};

	if (!if_nametoindex(name))
		return ENODEV;
	memcpy(request.ifr_name, name, strlen(name));
	if (ioctl(t->fd, TUNSETIFF, &request) < 0 || ioctl(t->fd, TUNSETVNETHDRSZ, &header) < 0 ||
	    ioctl(t->fd, TUNSETVNETLE, &little_endian) < 0)
		return errno;
	return 0;
}

/*
 * Returns the offloads of the tap. The kernel always accepts frames with incomplete checksums and large TCP frames from the
 * guest. It passes such frames to the guest if TUNSETOFFLOAD succeeds.
 */
static uint64_t find_offloads(int fd)
{
	uint64_t found = NET_BIT(VIRTIO_NET_F_CSUM) | NET_BIT(VIRTIO_NET_F_HOST_TSO4) | NET_BIT(VIRTIO_NET_F_HOST_TSO6);

	if (ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) == 0)
		found |= NET_BIT(VIRTIO_NET_F_GUEST_CSUM) | NET_BIT(VIRTIO_NET_F_GUEST_TSO4) | NET_BIT(VIRTIO_NET_F_GUEST_TSO6);
	ioctl(fd, TUNSETOFFLOAD, 0);
	return found;
}

static uint16_t find_mtu(const char *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {0};
	int mtu = 0;

	if (fd < 0)
		return 0;
	memcpy(request.ifr_name, name, strlen(name));
	if (ioctl(fd, SIOCGIFMTU, &request) == 0)
		mtu = request.ifr_mtu;
	close(fd);
	/* The range of an MTU that a driver accepts (virtio 1.2, section 5.1.4.1). */
	return mtu >= 68 && mtu <= 65535 ? (uint16_t)mtu : 0;
}

/*
 * Derive the MAC address from the interface's name. So guests on one bridge have different addresses, which are the same in
 * each run.
 */
static void find_mac(const char *name, uint8_t mac[6])
{
	uint64_t hash = fnv1a(FNV1A_START, name);

	mac[0] = 0x02; /* locally administered, unicast */
	mac[1] = 0x6f;
	for (unsigned i = 2; i < 6; i++)
		mac[i] = (uint8_t)(hash >> (8 * i));
}

struct net_backend *net_tap_new(const struct vmm_net *net, struct err *err)
{
	struct net_tap *t;
	int why;

	if (strlen(net->tap) >= IFNAMSIZ) {
		err_set(err, EXIT_INPUT, "--net tap=%s: the name of an interface has at most %d characters", net->tap,
			IFNAMSIZ - 1);
		return NULL;
	}
	t = calloc(1, sizeof(*t));
	if (!t) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	t->base.ops = &tap_ops;
	t->fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (t->fd < 0) {
		err_set(err, EXIT_INPUT,
			"--net tap=%s: cannot open /dev/net/tun: %m; as root:  modprobe tun && chmod 666 /dev/net/tun",
			net->tap);
		goto fail;
	}
	why = attach(t, net->tap);
	if (why) {
		refuse(net->tap, why, err);
		goto fail;
	}
	t->base.offloads = find_offloads(t->fd);
	t->base.mtu = find_mtu(net->tap);
	find_mac(net->tap, t->base.mac);
	return &t->base;
fail:
	tap_free(&t->base);
	return NULL;
}
