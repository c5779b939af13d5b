/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine without KVM whose cards are served by their real workers: a disk of two queues, an entropy device, a network card
 * and a vsock device, in the slots 1 to 4. Other than in rig.h the workers' threads run.
 */
#ifndef OUTRIDER_TESTS_FUZZ_SEQUENCE_MACHINE_H
#define OUTRIDER_TESTS_FUZZ_SEQUENCE_MACHINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "hv/vmm/block/disk.h"
#include "hv/vmm/block/virtio_blk.h"
#include "hv/vmm/net/backend.h"
#include "hv/vmm/net/virtio_net.h"
#include "hv/vmm/rng/virtio_rng.h"
#include "hv/vmm/vsock/virtio_vsock.h"
#include "tests/fuzz/rig.h"

#define SEQ_RAM (4u << 20)
#define SEQ_IMAGE (64u << 10) /* bytes of the disk's image */
#define SEQ_DIALS 4	      /* connections of the host to the guest */

enum { CARD_BLK, CARD_RNG, CARD_NET, CARD_VSOCK, CARDS };

/*
 * The guest's memory. It is a variable of this name, since ThreadSanitizer knows variables by name: what accesses it races by
 * design, and nothing else does (tests/unit/vmm/test_sequence.c).
 */
extern uint8_t guest_ram[SEQ_RAM];

struct seq_machine {
	struct ram ram;
	struct dma dma;
	struct bus bus;
	struct pci pci;
	struct workers workers;
	struct virtio_bus virtio;
	struct virtio_blk *disk;
	struct virtio_rng *rng;
	struct virtio_net *net;
	struct virtio_vsock *vsock;
	int image; /* the disk's image */
	int wire;  /* the far end of the network card's link */
	char folder[32], path[48];
	/* vCPUs hold it for reading while they run, and a snapshot for writing. */
	pthread_rwlock_t running;
	pthread_mutex_t dials_lock; /* guards `dial` */
	int dial[SEQ_DIALS];	    /* -1: there is none */
};

/* ---- a link to a socket ---- */

struct link_backend {
	struct net_backend base;
	int fd;
	bool full; /* the card has no room */
};

static inline void link_readable(void *ctx, uint32_t events)
{
	static _Thread_local uint8_t frame[NET_FRAME_MAX];
	const struct virtio_net_hdr_v1 hdr = {0};
	struct link_backend *l = ctx;
	unsigned burst = 0;
	ssize_t n = 0;

	(void)events;
	for (; burst < 8 && !l->full && (n = recv(l->fd, frame, sizeof(frame), MSG_DONTWAIT)) >= NET_FRAME_MIN; burst++)
		l->full = !l->base.peer.receive(l->base.peer.ctx, &hdr, frame, (size_t)n);
	if (burst)
		l->base.peer.received(l->base.peer.ctx);
}

static inline void link_start(struct net_backend *b, uint64_t features)
{
	struct link_backend *l = (struct link_backend *)b;

	(void)features;
	l->full = false;
	fuzz_require(worker_watch(b->worker, l->fd, EPOLLIN | EPOLLET, link_readable, l, NULL) == 0);
}

static inline void link_stop(struct net_backend *b)
{
	worker_unwatch(b->worker, ((struct link_backend *)b)->fd);
}

static inline bool link_send(struct net_backend *b, const struct virtio_net_hdr_v1 *hdr, const struct iovec *piece,
			     unsigned count)
{
	static _Thread_local uint8_t frame[NET_FRAME_MAX];
	size_t len = 0;

	(void)hdr;
	for (unsigned i = 0; i < count; i++) {
		fuzz_require(piece[i].iov_len <= sizeof(frame) - len);
		memcpy(frame + len, piece[i].iov_base, piece[i].iov_len);
		len += piece[i].iov_len;
	}
	fuzz_require(len >= NET_FRAME_MIN);
	b->dropped += send(((struct link_backend *)b)->fd, frame, len, MSG_DONTWAIT) < 0;
	return true;
}

static inline void link_resume(struct net_backend *b)
{
	struct link_backend *l = (struct link_backend *)b;

	l->full = false;
	link_readable(l, EPOLLIN);
}

static inline void link_free(struct net_backend *b)
{
	close(((struct link_backend *)b)->fd);
	free(b);
}

static const struct net_backend_ops link_ops = {
	.start = link_start, .stop = link_stop, .send = link_send, .resume = link_resume, .free = link_free};

static inline struct virtio_net *seq_net(struct seq_machine *m)
{
	struct link_backend *l = calloc(1, sizeof(*l));
	int fds[2];

	fuzz_require(l && socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	l->base = (struct net_backend){.ops = &link_ops, .offloads = UINT64_MAX, .mtu = 1500, .mac = {2}};
	l->fd = fds[0];
	m->wire = fds[1];
	return virtio_net_new(&m->virtio, &l->base, 0, NULL);
}

/* ---- the machine ---- */

static inline void seq_message(void *ctx, const char *line)
{
	(void)ctx;
	fuzz_require(line[0] && !strchr(line, '\n'));
}

static inline struct virtio_blk *seq_disk(struct seq_machine *m)
{
	static const struct vmm_messages notes = {.message = seq_message};
	struct vmm_disk config = {.queues = 2};
	char path[32];

	m->image = memfd_create("image", MFD_CLOEXEC);
	fuzz_require(m->image >= 0 && ftruncate(m->image, SEQ_IMAGE) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", m->image);
	config.path = path;
	return virtio_blk_new(&m->virtio, &config, 0, 2, &notes, NULL);
}

/* What is at these places of the machine, without a card. */
static inline void seq_board(struct seq_machine *m)
{
	const struct power_line power = {.end = rig_end};
	const struct irq_line irq = {.set = rig_irq};
	const struct bus_range ports = {BUS_PORT, PCI_PORT, PCI_LEN, &pci_ops, &m->pci},
			       memory = {BUS_MMIO, PCI_ECAM_GPA, PCI_ECAM_LEN, &pci_ecam_ops, &m->pci};

	m->ram = (struct ram){.host = guest_ram, .low = SEQ_RAM};
	dma_init(&m->dma, &m->ram);
	bus_init(&m->bus);
	workers_init(&m->workers, &m->dma);
	pci_init(&m->pci, &m->bus, &power, &irq, &rig_host);
	fuzz_require(bus_add(&m->bus, &ports, NULL) == 0 && bus_add(&m->bus, &memory, NULL) == 0);
	m->virtio = (struct virtio_bus){.pci = &m->pci, .dma = &m->dma, .workers = &m->workers};
}

static inline void seq_board_close(struct seq_machine *m)
{
	pci_destroy(&m->pci);
	workers_destroy(&m->workers);
	bus_destroy(&m->bus);
	dma_destroy(&m->dma);
}

static inline void seq_open(struct seq_machine *m)
{
	struct vmm_config vsock = {.vsock_cid = 3};

	*m = (struct seq_machine){.folder = "/tmp/outrider-seq-XXXXXX", .dial = {-1, -1, -1, -1}};
	fuzz_require(mkdtemp(m->folder));
	snprintf(m->path, sizeof(m->path), "%s/v", m->folder);
	vsock.vsock_socket = m->path;
	pthread_rwlock_init(&m->running, NULL);
	pthread_mutex_init(&m->dials_lock, NULL);
	seq_board(m);
	m->disk = seq_disk(m);
	m->rng = virtio_rng_new(&m->virtio, 0, NULL);
	m->net = seq_net(m);
	m->vsock = virtio_vsock_new(&m->virtio, &vsock, 0, NULL);
	fuzz_require(m->disk && m->rng && m->net && m->vsock && disk_allow_copies(virtio_blk_disk(m->disk), NULL) == 0);
	fuzz_require(workers_start(&m->workers, NULL) == 0);
}

/* The card in slot card + 1. */
static inline struct virtio *seq_card(struct seq_machine *m, unsigned card)
{
	return m->pci.slot[card + 1]->ctx;
}

/* No vCPU runs. */
static inline void seq_close(struct seq_machine *m)
{
	workers_join(&m->workers);
	virtio_vsock_free(m->vsock);
	virtio_net_free(m->net);
	virtio_rng_free(m->rng);
	virtio_blk_free(m->disk);
	seq_board_close(m);
	for (unsigned i = 0; i < SEQ_DIALS; i++)
		if (m->dial[i] >= 0)
			close(m->dial[i]);
	/* The image keeps its size, whatever was written. */
	fuzz_require(lseek(m->image, 0, SEEK_END) == SEQ_IMAGE);
	close(m->image);
	close(m->wire);
	fuzz_require(rmdir(m->folder) == 0);
	pthread_rwlock_destroy(&m->running);
	pthread_mutex_destroy(&m->dials_lock);
	madvise(guest_ram, SEQ_RAM, MADV_DONTNEED);
}

#endif
