/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a hostile guest with several CPUs does to the cards of sequence_machine.h over time: it sets devices up and resets them,
 * moves BARs, writes requests, and changes its memory while workers serve them; the host takes snapshots meanwhile.
 *
 * The first byte of an input says how many vCPUs there are (2 bits), and whether a thread changes memory all the time (0x80).
 * Then come operations of four bytes each, which the vCPUs take in turns: what to do, to which card and queue, and two more.
 */
#ifndef OUTRIDER_TESTS_FUZZ_SEQUENCE_H
#define OUTRIDER_TESTS_FUZZ_SEQUENCE_H

#include <sched.h>

#include "hv/vmm/pci/silent.h"
#include "hv/vmm/virtio/saved.h"
#include "tests/fuzz/sequence_machine.h"

#define SEQ_OP 4
#define SEQ_OPS_MAX 400 /* of an input; more take long and reach nothing new */
#define SEQ_VCPUS 3
#define SEQ_COPIES 2	  /* copies of the machine that an input makes */
#define SEQ_CHANGES 4000u /* bytes of memory that the thread changes for an input */
#define SEQ_SIZE 16	  /* entries of each queue */

/* Each card has room for four queues. Where the parts of a queue are. */
#define SEQ_RING_STEP 0x8000u
#define SEQ_AVAIL 0x2000u
#define SEQ_USED 0x3000u
#define SEQ_TABLE 0x4000u
/* Where requests' buffers are: 4 KiB for each descriptor. */
#define SEQ_DATA 0x100000u

struct seq {
	struct seq_machine m;
	const uint8_t *ops;
	size_t count;
	unsigned vcpus;
	atomic_uint copies;
	atomic_bool over;
};

struct seq_vcpu {
	struct seq *s;
	unsigned first; /* of its operations */
	pthread_t thread;
};

/* ---- memory, as the guest's CPUs access it: ThreadSanitizer is not told ---- */

#define SEQ_GUEST __attribute__((no_sanitize("thread"), noinline))

SEQ_GUEST static void guest_put(uint32_t gpa, const void *bytes, unsigned len)
{
	const volatile uint8_t *from = bytes;

	for (unsigned i = 0; i < len; i++)
		((volatile uint8_t *)guest_ram)[(gpa + i) % SEQ_RAM] = from[i];
}

SEQ_GUEST static uint16_t guest_get16(uint32_t gpa)
{
	return *(volatile uint16_t *)&guest_ram[gpa % (SEQ_RAM - 1) & ~1u];
}

static inline void guest_put16(uint32_t gpa, uint16_t value)
{
	guest_put(gpa, &value, 2);
}

static inline uint32_t seq_ring(unsigned card, unsigned queue)
{
	return RIG_RINGS + (card * 4 + queue % 4) * SEQ_RING_STEP;
}

/* ---- registers ---- */

static inline void seq_config(struct seq *s, unsigned card, unsigned offset, unsigned size, uint32_t value)
{
	bus_access(&s->m.bus, BUS_MMIO, PCI_ECAM_GPA + ((card + 1) << 15) + offset, true, size, (uint8_t *)&value);
}

static inline uint64_t seq_bar(struct seq *s, unsigned card, unsigned bar)
{
	uint64_t gpa;

	pthread_mutex_lock(&s->m.pci.lock);
	gpa = pci_function_bar_gpa(s->m.pci.slot[card + 1], bar);
	pthread_mutex_unlock(&s->m.pci.lock);
	return gpa;
}

static inline void seq_write(struct seq *s, unsigned card, unsigned offset, unsigned size, uint64_t value)
{
	bus_access(&s->m.bus, BUS_MMIO, seq_bar(s, card, VIRTIO_REGS_BAR) + offset, true, size, (uint8_t *)&value);
}

static inline uint64_t seq_read(struct seq *s, unsigned card, unsigned offset, unsigned size)
{
	uint64_t value = 0;

	bus_access(&s->m.bus, BUS_MMIO, seq_bar(s, card, VIRTIO_REGS_BAR) + offset, false, size, (uint8_t *)&value);
	return value;
}

static inline void seq_kick(struct seq *s, unsigned card, unsigned queue)
{
	seq_write(s, card, VIRTIO_NOTIFY + VIRTIO_NOTIFY_STEP * queue, 2, queue);
}

/* ---- a device's life ---- */

static inline void seq_queue(struct seq *s, unsigned card, unsigned queue, uint16_t size)
{
	uint32_t at = seq_ring(card, queue);

	seq_write(s, card, 0x16, 2, queue);
	seq_write(s, card, 0x18, 2, size);
	seq_write(s, card, 0x1a, 2, queue + 1);
	seq_write(s, card, 0x20, 8, at);
	seq_write(s, card, 0x28, 8, at + SEQ_AVAIL);
	seq_write(s, card, 0x30, 8, at + SEQ_USED);
	seq_write(s, card, 0x1c, 2, 1);
}

/* Initialise the device as a driver does (virtio 1.2, 3.1.1), with empty rings, up to DRIVER_OK. */
static inline void seq_setup(struct seq *s, unsigned card, uint8_t core, uint8_t own)
{
	const uint64_t features = 1ull << 32 | (uint64_t)core << 28 | (uint64_t)own << 8 | 0x7f;
	static const uint8_t empty[4];

	seq_config(s, card, 4, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	seq_write(s, card, 0x14, 1, 0);
	seq_write(s, card, 0x14, 1, 1 | 2);
	for (unsigned word = 0; word < 2; word++) {
		seq_write(s, card, 0, 4, word);
		seq_write(s, card, 8, 4, word);
		seq_write(s, card, 0xc, 4, seq_read(s, card, 4, 4) & features >> 32 * word);
	}
	seq_write(s, card, 0x14, 1, 1 | 2 | 8);
	for (unsigned i = 0; i < 4; i++) {
		guest_put(seq_ring(card, i) + SEQ_AVAIL, empty, sizeof(empty));
		guest_put(seq_ring(card, i) + SEQ_USED, empty, sizeof(empty));
		seq_queue(s, card, i, SEQ_SIZE);
	}
	seq_write(s, card, 0x14, 1, 1 | 2 | 8 | 4);
}

/* ---- requests ---- */

/* A buffer of the guest's. Some are where rings are, so that the device changes them. */
static inline uint32_t seq_buffer(unsigned card, unsigned slot, uint8_t how)
{
	if ((how & 0xc0) == 0xc0)
		return seq_ring(card, how >> 4 & 3) + (how & 15) * 0x400;
	return SEQ_DATA + (card * SEQ_SIZE + slot % SEQ_SIZE) * 0x1000;
}

struct seq_part {
	uint32_t len;
	bool write;
	const void *content; /* or NULL */
	uint32_t content_len;
};

/* Write a chain, and make it available. Two vCPUs may do so at once, in each other's way. */
static inline void seq_offer(unsigned card, unsigned queue, const struct seq_part *part, unsigned count, uint8_t how)
{
	uint32_t ring = seq_ring(card, queue), avail = ring + SEQ_AVAIL;
	uint16_t index = guest_get16(avail + 2), head = (uint16_t)(index * 4 % SEQ_SIZE);

	for (unsigned i = 0; i < count; i++) {
		uint16_t slot = (uint16_t)((head + i) % SEQ_SIZE);
		struct rig_desc desc = {.addr = seq_buffer(card, slot, part[i].write ? how : 0),
					.len = part[i].len,
					.flags = (uint16_t)((part[i].write ? DESC_WRITE : 0) | (i + 1 < count ? DESC_NEXT : 0)),
					.next = (uint16_t)((slot + 1) % SEQ_SIZE)};

		if (part[i].content)
			guest_put((uint32_t)desc.addr, part[i].content, part[i].content_len);
		guest_put(ring + slot * sizeof(desc), &desc, sizeof(desc));
	}
	guest_put16(avail + 4 + 2 * (index % SEQ_SIZE), head);
	guest_put16(avail + 2, (uint16_t)(index + 1));
}

static inline void seq_offer_blk(unsigned queue, uint8_t a, uint8_t b)
{
	static const uint32_t types[] = {0, 1, 0, 1, 4, 8, 11, 13};
	const struct {
		uint32_t type, zero;
		uint64_t sector;
	} header = {types[a & 7], 0, b % 132u};
	const struct {
		uint64_t sector;
		uint32_t sectors, flags;
	} range = {b % 132u, 1 + (a >> 3 & 7), 0};
	bool writes = header.type == 1 || header.type >= 11;
	uint32_t len = header.type >= 11 ? 16 : 512u * (1 + (a >> 3 & 7));
	const struct seq_part part[] = {
		{16, false, &header, 16}, {len, !writes, writes ? &range : NULL, sizeof(range)}, {1, true, NULL, 0}};

	seq_offer(CARD_BLK, queue % 2, part, 3, b);
}

static inline void seq_offer_vsock(unsigned queue, uint8_t a, uint8_t b)
{
	const struct {
		uint64_t from, to;
		uint32_t from_port, to_port, len;
		uint16_t type, op;
		uint32_t flags, room, sent;
	} __attribute__((packed))
	header = {3, 2, 1024u + (b & 3), b >> 2 & 3, (a & 7) == 5 ? 64 : 0, 1, a & 7, a >> 3 & 3, 4096, a >> 5};
	const struct seq_part tx[] = {{44, false, &header, 44}, {64, false, NULL, 0}}, rx[] = {{44 + 16u * b, true, NULL, 0}};

	if (queue == 1)
		seq_offer(CARD_VSOCK, 1, tx, header.len ? 2 : 1, 0);
	else
		seq_offer(CARD_VSOCK, queue, rx, 1, a);
}

static inline void seq_offer_net(unsigned queue, uint8_t a, uint8_t b)
{
	const uint8_t header[12] = {a & 1, 0};
	const struct seq_part tx[] = {{12, false, header, 12}, {14 + 6u * b, false, NULL, 0}},
			      rx[] = {{12 + 8u * b, true, NULL, 0}};

	if (queue == 1)
		seq_offer(CARD_NET, 1, tx, 2, 0);
	else
		seq_offer(CARD_NET, queue, rx, 1, a);
}

static inline void seq_request(unsigned card, unsigned queue, uint8_t a, uint8_t b)
{
	const struct seq_part entropy = {1u + b * 4u, true, NULL, 0};

	if (card == CARD_BLK)
		seq_offer_blk(queue, a, b);
	else if (card == CARD_NET)
		seq_offer_net(queue, a, b);
	else if (card == CARD_VSOCK)
		seq_offer_vsock(queue, a, b);
	else
		seq_offer(CARD_RNG, 0, &entropy, 1, a);
}

/* ---- the host ---- */

/* The cards of a copy, as parts_add_pci_devices() makes them: a disk over that of the machine, an entropy device, and silent
 * cards.
 */
static inline void seq_copy_cards(struct seq_machine *m, struct seq_machine *copy, const struct virtio_saved saved[CARDS],
				  struct silent *silent[CARDS])
{
	struct disk *disk, *live = virtio_blk_disk(m->disk);

	for (unsigned i = 0; i < CARDS; i++)
		fuzz_require(virtio_identity_is_good(&saved[i].identity));
	disk_copy_begins(live);
	disk = disk_copy(live, NULL);
	fuzz_require(disk);
	copy->disk = virtio_blk_copy(&copy->virtio, disk, &saved[CARD_BLK], NULL);
	copy->rng = virtio_rng_new(&copy->virtio, 0, NULL);
	fuzz_require(copy->disk && copy->rng);
	for (unsigned i = CARD_NET; i < CARDS; i++) {
		silent[i] = silent_new(&copy->virtio, &saved[i], NULL);
		fuzz_require(silent[i]);
	}
}

/* What was saved can be loaded into a copy of the machine, whose workers then serve the requests that were waiting. */
static inline void seq_copy(struct seq_machine *m, const struct virtio_saved saved[CARDS])
{
	struct silent *silent[CARDS] = {0};
	struct seq_machine copy = {0};

	seq_board(&copy);
	seq_copy_cards(m, &copy, saved, silent);
	/* Twice, since a BAR cannot be where another one still is. */
	for (unsigned i = 0; i < 2 * CARDS; i++)
		pci_function_load(&copy.pci, i % CARDS + 1, saved[i % CARDS].pci, saved[i % CARDS].intx);
	for (unsigned i = 0; i < CARDS; i++)
		fuzz_require(virtio_load(virtio_in_slot(&copy.pci, i + 1), &saved[i]));
	fuzz_require(workers_start(&copy.workers, NULL) == 0);
	for (unsigned i = 0; i < 50 && workers_woken(&copy.workers); i++)
		sched_yield();
	workers_join(&copy.workers);
	virtio_blk_free(copy.disk);
	virtio_rng_free(copy.rng);
	for (unsigned i = 0; i < CARDS; i++)
		silent_free(silent[i]);
	seq_board_close(&copy);
}

/* A snapshot as vm_state_save() takes it. The caller's vCPU runs. */
static inline void seq_save(struct seq *s)
{
	struct virtio_saved *saved = calloc(CARDS, sizeof(*saved));

	fuzz_require(saved);
	pthread_rwlock_unlock(&s->m.running);
	pthread_rwlock_wrlock(&s->m.running);
	workers_pause(&s->m.workers);
	for (unsigned i = 0; i < CARDS; i++)
		virtio_save(virtio_in_slot(&s->m.pci, i + 1), &saved[i]);
	/* Other than a real copy this one uses the machine's own memory, while the machine stands still. */
	if (atomic_fetch_add(&s->copies, 1) < SEQ_COPIES)
		seq_copy(&s->m, saved);
	workers_resume(&s->m.workers);
	pthread_rwlock_unlock(&s->m.running);
	pthread_rwlock_rdlock(&s->m.running);
	free(saved);
}

static inline int seq_dial(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A program of the host connects to the guest, sends, receives and goes. */
static inline void seq_program(struct seq *s, uint8_t a, uint8_t b)
{
	static const char text[64] = "CONNECT 1024\n";
	char bytes[256];
	int *fd = &s->m.dial[a % SEQ_DIALS];

	pthread_mutex_lock(&s->m.dials_lock);
	if (*fd < 0)
		*fd = seq_dial(s->m.path);
	if (*fd >= 0 && a & 0x10)
		(void)!send(*fd, text, b % sizeof(text), MSG_DONTWAIT | MSG_NOSIGNAL);
	if (*fd >= 0 && a & 0x20)
		(void)!recv(*fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (*fd >= 0 && a & 0x40) {
		close(*fd);
		*fd = -1;
	}
	pthread_mutex_unlock(&s->m.dials_lock);
}

/* Frames for the guest, and from it. */
static inline void seq_wire(struct seq *s, uint8_t a, uint8_t b)
{
	uint8_t frame[2048] = {0};

	if (a & 1)
		(void)!recv(s->m.wire, frame, sizeof(frame), MSG_DONTWAIT);
	(void)!send(s->m.wire, frame, 14 + 6u * b, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ---- operations ---- */

static inline void seq_msix(struct seq *s, unsigned card, uint8_t a, uint8_t b)
{
	uint32_t value = a & 1 ? 0xfee00000u : b;

	bus_access(&s->m.bus, BUS_MMIO, seq_bar(s, card, VIRTIO_MSIX_BAR) + (b & 0x7f) * 4u, true, 4, (uint8_t *)&value);
	if (a & 2)
		seq_write(s, card, 0x10, 2, b & 7);
	/* The capability's control: enable and mask all. */
	if (a & 4)
		for (unsigned offset = 0x40; offset < 0x100; offset += 4)
			if (s->m.pci.slot[card + 1]->config[offset] == 0x11)
				seq_config(s, card, offset + 2, 2, (uint32_t)(a & 0xc0) << 8);
}

static inline void seq_command(struct seq *s, unsigned card, uint8_t a)
{
	seq_config(s, card, 4, 2, (a & 6) | (a & 1) << 10);
}

/* To one of 16 places, where other cards' BARs may be, or somewhere. */
static inline void seq_move(struct seq *s, unsigned card, uint8_t a, uint8_t b)
{
	uint32_t gpa = a & 0x80 ? (uint32_t)b << 24 | (uint32_t)a << 14 : (uint32_t)PCI_WINDOW_GPA + (b & 15) * 0x1000u;

	seq_config(s, card, 0x10 + 4 * (a % 7), 4, gpa);
}

static inline void seq_step(struct seq *s, const uint8_t *op)
{
	unsigned card = op[1] & 3, queue = op[1] >> 2 & 3;
	uint8_t a = op[2], b = op[3];
	uint64_t value = (uint64_t)a << 8 | b;

	switch (op[0] & 15) {
	case 0:
		seq_setup(s, card, a, b);
		break;
	case 1:
		seq_write(s, card, 0x14, 1, a & 1 ? b : 0);
		break;
	case 2:
	case 3:
	case 4:
		seq_request(card, queue, a, b);
		seq_kick(s, card, queue);
		break;
	case 5:
		seq_request(card, queue, a, b);
		break;
	case 6:
		seq_kick(s, card, queue);
		break;
	case 7:
		seq_queue(s, card, queue, a & 1 ? SEQ_SIZE : b);
		break;
	case 8:
		seq_msix(s, card, a, b);
		break;
	case 9:
		seq_command(s, card, a);
		break;
	case 10:
		seq_move(s, card, a, b);
		break;
	case 11:
		if (op[1] & 0x10)
			seq_write(s, card, VIRTIO_DEVICE + a % 64, 1u << b % 4, value);
		else
			seq_read(s, card, a % (VIRTIO_COMMON_LEN + 8) + (b & 3) * 0x1000u, 1u << (b >> 2) % 4);
		break;
	case 12:
		seq_save(s);
		break;
	case 13:
		guest_put(seq_ring(card, queue) + (a & 0x80 ? SEQ_AVAIL : 0) + (a & 0x7f), &b, 1);
		break;
	case 14:
		if (op[1] & 1)
			seq_program(s, a, b);
		else
			seq_wire(s, a, b);
		break;
	default:
		seq_write(s, card, op[1] >> 2, 1u << (a & 3), a & 0x80 ? value << 32 | value : value);
	}
}

/* ---- threads ---- */

static inline void *seq_run_vcpu(void *arg)
{
	struct seq_vcpu *c = arg;
	struct seq *s = c->s;

	for (size_t i = c->first; i < s->count; i += s->vcpus) {
		pthread_rwlock_rdlock(&s->m.running);
		seq_step(s, s->ops + i * SEQ_OP);
		pthread_rwlock_unlock(&s->m.running);
	}
	return NULL;
}

/* Bytes of the operations are what is stored, and where: in rings and tables. */
static inline void *seq_change_memory(void *arg)
{
	struct seq *s = arg;

	for (unsigned i = 0; i < SEQ_CHANGES && !s->over; i++) {
		const uint8_t *op = s->ops + i % s->count * SEQ_OP;
		uint32_t ring = seq_ring(op[1] & 3, op[1] >> 2 & 1), at = i & 1 ? SEQ_AVAIL + op[2] % 40u : op[2];

		pthread_rwlock_rdlock(&s->m.running);
		guest_put(ring + at, &op[3], 1);
		pthread_rwlock_unlock(&s->m.running);
		if (i % 16 == 15)
			sched_yield();
	}
	return NULL;
}

static inline void seq_run(const uint8_t *data, size_t size)
{
	static struct seq s;
	struct seq_vcpu vcpu[SEQ_VCPUS];
	pthread_t changer;
	bool changes;

	if (size < 1 + SEQ_OP)
		return;
	seq_open(&s.m);
	s.ops = data + 1;
	s.count = (size - 1) / SEQ_OP;
	if (s.count > SEQ_OPS_MAX)
		s.count = SEQ_OPS_MAX;
	s.vcpus = 1 + data[0] % SEQ_VCPUS;
	s.copies = 0;
	s.over = false;
	changes = data[0] & 0x80;
	for (unsigned card = 0; card < CARDS; card++)
		seq_setup(&s, card, 3, 0xff);
	if (changes)
		fuzz_require(pthread_create(&changer, NULL, seq_change_memory, &s) == 0);
	for (unsigned i = 0; i < s.vcpus; i++)
		vcpu[i] = (struct seq_vcpu){.s = &s, .first = i};
	for (unsigned i = 1; i < s.vcpus; i++)
		fuzz_require(pthread_create(&vcpu[i].thread, NULL, seq_run_vcpu, &vcpu[i]) == 0);
	seq_run_vcpu(&vcpu[0]);
	for (unsigned i = 1; i < s.vcpus; i++)
		pthread_join(vcpu[i].thread, NULL);
	s.over = true;
	if (changes)
		pthread_join(changer, NULL);
	seq_close(&s.m);
}

#endif
