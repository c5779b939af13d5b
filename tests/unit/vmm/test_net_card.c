/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The network card as its driver sees it: the test writes rings in memory as a driver does, and is also the backend.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <linux/virtio_net.h>

#include "hv/vmm/net/backend.h"
#include "hv/vmm/net/virtio_net.h"

enum { RX, TX, CONTROL, QUEUES };

#define SIZE 256 /* entries of each queue */
#define HEADER 12
#define WRITE 2 /* flags of a descriptor */
#define NEXT 1
#define RAM_BYTES (4u << 20)
#define RING(queue) (0x10000u * ((queue) + 1)) /* GPA of the queue's descriptors; avail and used ring follow */
#define AVAIL 0x4000u
#define USED 0x8000u
#define BUFFERS 0x100000u /* GPA of the memory for buffers */

/* ---- the machine around the card ---- */

struct virtio {
	struct virtq q[QUEUES];
	atomic_bool broken;
	const char *why;
	unsigned interrupts[QUEUES];
	const struct virtio_ops *ops;
	void *dev;
};

static struct {
	struct ram ram;
	struct dma dma;
	struct workers workers;
	struct virtio v;
	uint16_t descriptor[QUEUES]; /* the next free one */
	uint16_t added[QUEUES];	     /* the available index */
} machine;

static void interrupt(void *ctx, unsigned queue)
{
	struct virtio *v = ctx;

	v->interrupts[queue]++;
}

static void broken(void *ctx, unsigned queue, const char *why)
{
	struct virtio *v = ctx;

	(void)queue;
	v->why = why;
	v->broken = true;
}

struct virtio *virtio_add(const struct virtio_bus *bus, const struct virtio_ops *ops, void *dev, unsigned index,
			  unsigned queues, struct err *err)
{
	struct virtio *v = &machine.v;
	struct virtq_wiring wiring = {.interrupt = interrupt, .broken = broken, .device_broken = &v->broken, .ctx = v};
	struct device_request by = {.type = "virtio-net", .index = index};

	(void)err;
	assert_int_equal(queues, QUEUES);
	v->ops = ops;
	v->dev = dev;
	for (by.queue = 0; by.queue < QUEUES; by.queue++)
		virtq_init(&v->q[by.queue], bus->dma, &by, &wiring);
	return v;
}

void virtio_remove(struct virtio *v)
{
	for (unsigned i = 0; i < QUEUES; i++)
		virtq_stop(&v->q[i]);
}

struct virtq *virtio_queue(struct virtio *v, unsigned queue)
{
	return &v->q[queue];
}

const char *virtio_broken(const struct virtio *v)
{
	return v->why;
}

/* ---- the backend ---- */

struct fake {
	struct net_backend base;
	uint64_t features; /* of start() */
	bool started;
	bool busy; /* it accepts no further frame for now */
	unsigned sent, bursts, resumed;
	struct virtio_net_hdr_v1 hdr; /* of the last frame that was sent */
	size_t len;
	uint8_t frame[NET_FRAME_MAX];
};

static struct fake fake;

static void fake_start(struct net_backend *b, uint64_t features)
{
	(void)b;
	fake.started = true;
	fake.features = features;
}

static void fake_stop(struct net_backend *b)
{
	(void)b;
	fake.started = false;
}

static bool fake_send(struct net_backend *b, const struct virtio_net_hdr_v1 *hdr, const struct iovec *piece, unsigned count)
{
	(void)b;
	assert_in_range(count, 1, NET_PIECES_MAX);
	fake.sent++;
	fake.hdr = *hdr;
	fake.len = 0;
	for (unsigned i = 0; i < count; i++) {
		assert_in_range(fake.len + piece[i].iov_len, 1, NET_FRAME_MAX);
		memcpy(fake.frame + fake.len, piece[i].iov_base, piece[i].iov_len);
		fake.len += piece[i].iov_len;
	}
	assert_in_range(fake.len, NET_FRAME_MIN, NET_FRAME_MAX);
	return !fake.busy;
}

static void fake_sent(struct net_backend *b)
{
	(void)b;
	fake.bursts++;
}

static void fake_resume(struct net_backend *b)
{
	(void)b;
	fake.resumed++;
}

static void fake_free(struct net_backend *b)
{
	(void)b;
}

static const struct net_backend_ops fake_ops = {
	.start = fake_start,
	.stop = fake_stop,
	.send = fake_send,
	.sent = fake_sent,
	.resume = fake_resume,
	.free = fake_free,
};

/* ---- the driver ---- */

static void *at(uint64_t gpa)
{
	return machine.ram.host + gpa;
}

struct desc {
	uint64_t gpa;
	uint32_t len;
	uint16_t flags, next;
};

/* Make a chain of `count` buffers available. `given` has their GPAs, lengths and WRITE. Returns its head. */
static uint16_t add(unsigned queue, const struct desc *given, unsigned count)
{
	struct desc *table = at(RING(queue));
	uint16_t *avail = at(RING(queue) + AVAIL), head = machine.descriptor[queue];

	for (unsigned i = 0; i < count; i++) {
		uint16_t n = (uint16_t)((head + i) % SIZE);

		table[n] = given[i];
		if (i + 1 < count) {
			table[n].flags |= NEXT;
			table[n].next = (uint16_t)((n + 1) % SIZE);
		}
	}
	machine.descriptor[queue] = (uint16_t)((head + count) % SIZE);
	avail[2 + machine.added[queue] % SIZE] = head;
	avail[1] = ++machine.added[queue];
	return head;
}

static void add_buffer(uint64_t gpa, uint32_t len)
{
	add(RX, &(struct desc){.gpa = gpa, .len = len, .flags = WRITE}, 1);
}

static uint16_t used_index(unsigned queue)
{
	return ((uint16_t *)at(RING(queue) + USED))[1];
}

/* The length that the device gave with used entry `i`. */
static uint32_t used_len(unsigned queue, unsigned i)
{
	return ((uint32_t *)at(RING(queue) + USED))[1 + 2 * (i % SIZE) + 1];
}

static void kick(unsigned queue)
{
	machine.v.ops->queue_ready(machine.v.dev, queue);
}

static void activate(uint64_t features)
{
	for (unsigned i = 0; i < QUEUES; i++) {
		struct virtq_place place = {.size = SIZE, .desc = RING(i), .avail = RING(i) + AVAIL, .used = RING(i) + USED};

		memset(at(RING(i)), 0, 0x10000);
		machine.descriptor[i] = machine.added[i] = 0;
		assert_int_equal(virtq_start(&machine.v.q[i], &place), 0);
	}
	machine.v.ops->activate(machine.v.dev, features);
	for (unsigned i = 0; i < QUEUES; i++)
		kick(i);
}

static void reset(void)
{
	machine.v.ops->reset(machine.v.dev);
	for (unsigned i = 0; i < QUEUES; i++)
		virtq_stop(&machine.v.q[i]);
	machine.v.broken = false;
	machine.v.why = NULL;
}

static bool receive(const uint8_t *frame, size_t len)
{
	struct virtio_net_hdr_v1 hdr = {.flags = VIRTIO_NET_HDR_F_DATA_VALID};

	return fake.base.peer.receive(fake.base.peer.ctx, &hdr, frame, len);
}

#define MERGE NET_BIT(VIRTIO_NET_F_MRG_RXBUF)

static int setup(void **state)
{
	static const uint8_t mac[6] = {2, 1, 2, 3, 4, 5};
	struct virtio_bus bus = {.dma = &machine.dma, .workers = &machine.workers};
	struct err err = {0};
	struct virtio_net *net;

	memset(&machine, 0, sizeof(machine));
	memset(&fake, 0, sizeof(fake));
	machine.ram.host = calloc(1, RAM_BYTES);
	machine.ram.low = RAM_BYTES;
	dma_init(&machine.dma, &machine.ram);
	workers_init(&machine.workers, &machine.dma);
	fake.base.ops = &fake_ops;
	fake.base.offloads = NET_BIT(VIRTIO_NET_F_CSUM);
	fake.base.mtu = 1400;
	memcpy(fake.base.mac, mac, sizeof(mac));
	net = virtio_net_new(&bus, &fake.base, 0, &err);
	*state = net;
	return machine.ram.host && net ? 0 : -1;
}

static int teardown(void **state)
{
	virtio_net_free(*state);
	workers_destroy(&machine.workers);
	dma_destroy(&machine.dma);
	free(machine.ram.host);
	return 0;
}

/* ---- what the driver finds ---- */

static void test_features(void **state)
{
	uint64_t features = machine.v.ops->features(machine.v.dev);

	(void)state;
	assert_true(features & NET_BIT(VIRTIO_NET_F_MAC));
	assert_true(features & NET_BIT(VIRTIO_NET_F_CSUM));
	assert_true(features & NET_BIT(VIRTIO_NET_F_MTU));
	/* The backend cannot do these. */
	assert_false(features & (NET_BIT(VIRTIO_NET_F_GUEST_CSUM) | NET_BIT(VIRTIO_NET_F_HOST_TSO4)));
	assert_false(features & NET_BIT(VIRTIO_NET_F_MQ));
}

static void test_config(void **state)
{
	struct virtio_net_config config;

	(void)state;
	assert_int_equal(machine.v.ops->config_size, sizeof(config));
	machine.v.ops->config_read(machine.v.dev, 0, &config, sizeof(config));
	assert_memory_equal(config.mac, "\2\1\2\3\4\5", 6);
	assert_int_equal(le16toh(config.status), VIRTIO_NET_S_LINK_UP);
	assert_int_equal(le16toh(config.mtu), 1400);
}

/* A driver that accepts segments but no checksums gets neither. */
static void test_dependent_features(void **state)
{
	(void)state;
	activate(NET_BIT(VIRTIO_NET_F_GUEST_TSO4) | NET_BIT(VIRTIO_NET_F_HOST_TSO4));
	assert_true(fake.started);
	assert_int_equal(fake.features, NET_BIT(VIRTIO_NET_F_HOST_TSO4));
}

/* ---- to the guest ---- */

static void fill(uint8_t *frame, size_t len)
{
	for (size_t i = 0; i < len; i++)
		frame[i] = (uint8_t)(i * 31 % 251);
}

static void test_receive(void **state)
{
	uint8_t frame[100];

	fill(frame, sizeof(frame));
	activate(MERGE | NET_BIT(VIRTIO_NET_F_GUEST_CSUM));
	add_buffer(BUFFERS, 1518);
	kick(RX);
	assert_int_equal(used_index(RX), 0);
	assert_true(receive(frame, sizeof(frame)));
	assert_int_equal(used_index(RX), 1);
	assert_int_equal(used_len(RX, 0), HEADER + 100);
	assert_memory_equal((uint8_t *)at(BUFFERS) + HEADER, frame, 100);
	assert_int_equal(((struct virtio_net_hdr_v1 *)at(BUFFERS))->num_buffers, 1);
	assert_int_equal(((struct virtio_net_hdr_v1 *)at(BUFFERS))->flags, VIRTIO_NET_HDR_F_DATA_VALID);
	assert_int_equal(((uint8_t *)at(BUFFERS))[HEADER + 100], 0); /* and not a byte more */
	assert_int_equal(machine.v.interrupts[RX], 0);
	fake.base.peer.received(fake.base.peer.ctx);
	assert_int_equal(machine.v.interrupts[RX], 1);
	assert_int_equal(virtio_net_counts(*state).received, 1);
}

/* The largest frame takes 44 buffers of a driver that merges buffers, and the next frame uses the buffers after these. */
static void test_receive_merged(void **state)
{
	static uint8_t frame[NET_FRAME_MAX];
	size_t done = 1518 - HEADER;

	(void)state;
	fill(frame, sizeof(frame));
	activate(MERGE);
	for (unsigned i = 0; i < 46; i++)
		add_buffer(BUFFERS + i * 2048, 1518);
	assert_true(receive(frame, sizeof(frame)));
	assert_int_equal(used_index(RX), 44);
	assert_int_equal(le16toh(((struct virtio_net_hdr_v1 *)at(BUFFERS))->num_buffers), 44);
	assert_memory_equal((uint8_t *)at(BUFFERS) + HEADER, frame, done);
	for (unsigned i = 1; i < 44; i++) {
		size_t part = sizeof(frame) - done < 1518 ? sizeof(frame) - done : 1518;

		assert_int_equal(used_len(RX, i), part);
		assert_memory_equal(at(BUFFERS + i * 2048), frame + done, part);
		done += part;
	}
	assert_int_equal(done, sizeof(frame));
	assert_true(receive(frame, 1500));
	assert_int_equal(used_index(RX), 45);
	assert_memory_equal((uint8_t *)at(BUFFERS + 44 * 2048) + HEADER, frame, 1500);
}

/* A frame without enough buffers stays with the backend, and a notification of the driver wakes the backend. */
static void test_receive_waits(void **state)
{
	uint8_t frame[2000];

	(void)state;
	fill(frame, sizeof(frame));
	activate(MERGE);
	assert_false(receive(frame, sizeof(frame)));
	add_buffer(BUFFERS, 1518);
	kick(RX);
	assert_int_equal(fake.resumed, 1);
	assert_false(receive(frame, sizeof(frame))); /* one buffer is not enough, but the card keeps it */
	assert_int_equal(used_index(RX), 0);
	add_buffer(BUFFERS + 2048, 1518);
	kick(RX);
	assert_int_equal(fake.resumed, 2);
	assert_true(receive(frame, sizeof(frame)));
	assert_int_equal(used_index(RX), 2);
	assert_memory_equal((uint8_t *)at(BUFFERS) + HEADER, frame, 1506);
	assert_memory_equal(at(BUFFERS + 2048), frame + 1506, 494);
	kick(RX);
	assert_int_equal(fake.resumed, 2);
}

/* The card drops a frame that can never fit, so that it does not block later frames. */
static void test_receive_never_fits(void **state)
{
	uint8_t frame[2000] = {0};

	activate(0); /* a driver that does not merge */
	add_buffer(BUFFERS, 1518);
	add_buffer(BUFFERS + 2048, 1518);
	assert_true(receive(frame, sizeof(frame)));
	assert_int_equal(used_index(RX), 0);
	assert_int_equal(virtio_net_counts(*state).no_fit, 1);
	assert_true(receive(frame, 1506));
	assert_int_equal(used_index(RX), 1);
	assert_int_equal(((struct virtio_net_hdr_v1 *)at(BUFFERS))->num_buffers, 1);
	assert_int_equal(((struct virtio_net_hdr_v1 *)at(BUFFERS))->flags, 0); /* the driver did not negotiate checksums */
}

/* If the driver gives many buffers of the smallest size, the card uses no more of them than it can hold. */
static void test_receive_tiny_buffers(void **state)
{
	static uint8_t frame[NET_FRAME_MAX];

	activate(MERGE);
	for (unsigned i = 0; i < SIZE - 1; i++)
		add_buffer(BUFFERS + i * 16, HEADER);
	assert_true(receive(frame, sizeof(frame)));
	assert_int_equal(virtio_net_counts(*state).no_fit, 1);
	assert_int_equal(used_index(RX), 0);
	assert_true(receive(frame, 60)); /* 6 buffers */
	assert_int_equal(used_index(RX), 6);
	assert_int_equal(le16toh(((struct virtio_net_hdr_v1 *)at(BUFFERS))->num_buffers), 6);
}

static void test_bad_receive_buffers(void **state)
{
	uint8_t frame[1518] = {0};

	(void)state;
	activate(MERGE);
	add(RX, (struct desc[]){{BUFFERS, 12, 0, 0}, {BUFFERS + 64, 1518, WRITE, 0}},
	    2); /* a part that the device may only read */
	assert_false(receive(frame, sizeof(frame)));
	assert_true(machine.v.broken);
	assert_false(receive(frame, sizeof(frame)));
	reset();
	assert_false(fake.started);
	activate(MERGE);
	add_buffer(BUFFERS, HEADER - 1); /* no room for a header */
	assert_false(receive(frame, sizeof(frame)));
	assert_true(machine.v.broken);
	reset();
	activate(MERGE);
	add_buffer(BUFFERS, 1518); /* the card holds a valid buffer when the device breaks */
	assert_false(receive(frame, 1519 - HEADER));
	add(TX, &(struct desc){.gpa = BUFFERS, .len = HEADER - 1}, 1);
	kick(TX);
	assert_false(receive(frame, 60));
	assert_int_equal(used_index(RX), 0);
	reset();
	activate(MERGE); /* after the reset the card works again */
	add_buffer(BUFFERS, 1518);
	assert_true(receive(frame, 60));
}

/* ---- from the guest ---- */

static void test_send(void **state)
{
	uint8_t frame[100];
	struct virtio_net_hdr_v1 *hdr = at(BUFFERS);

	fill(frame, sizeof(frame));
	activate(0);
	*hdr = (struct virtio_net_hdr_v1){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 16};
	memcpy(hdr + 1, frame, 20);
	memcpy(at(BUFFERS + 4096), frame + 20, 80);
	add(TX, (struct desc[]){{BUFFERS, HEADER + 20, 0, 0}, {BUFFERS + 4096, 80, 0, 0}}, 2);
	kick(TX);
	assert_int_equal(fake.sent, 1);
	assert_int_equal(fake.len, 100);
	assert_memory_equal(fake.frame, frame, 100);
	assert_int_equal(fake.hdr.csum_start, 34);
	assert_int_equal(used_index(TX), 1);
	assert_int_equal(used_len(TX, 0), 0);
	assert_int_equal(machine.v.interrupts[TX], 1);
	assert_int_equal(virtio_net_counts(*state).sent, 1);
}

/* The card sends the longest and the shortest frame, drops longer and shorter ones, and goes on. */
static void test_send_lengths(void **state)
{
	static const struct {
		uint32_t len;
		bool sent;
	} frames[] = {{NET_FRAME_MAX, true},
		      {NET_FRAME_MAX + 1, false},
		      {1 << 20, false},
		      {NET_FRAME_MIN, true},
		      {NET_FRAME_MIN - 1, false},
		      {0, false},
		      {60, true}};
	unsigned want = 0;

	activate(0);
	for (unsigned i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		add(TX, &(struct desc){.gpa = BUFFERS, .len = HEADER + frames[i].len}, 1);
		kick(TX);
		want += frames[i].sent;
		assert_int_equal(fake.sent, want);
		assert_int_equal(used_index(TX), i + 1);
	}
	assert_false(machine.v.broken);
	assert_int_equal(virtio_net_counts(*state).bad_length, 4);
}

static void test_bad_send_requests(void **state)
{
	(void)state;
	activate(0);
	add(TX, &(struct desc){.gpa = BUFFERS, .len = HEADER - 1}, 1);
	kick(TX);
	assert_true(machine.v.broken);
	assert_int_equal(used_index(TX), 0);
	reset();
	activate(0);
	add(TX, (struct desc[]){{BUFFERS, 100, 0, 0}, {BUFFERS + 4096, 8, WRITE, 0}}, 2);
	kick(TX);
	assert_true(machine.v.broken);
	assert_int_equal(fake.sent, 0);
}

/* A full queue is one burst: the driver gets one interrupt, and the backend one call at its end. */
static void test_send_burst(void **state)
{
	(void)state;
	activate(0);
	fake.bursts = 0;
	for (unsigned i = 0; i < SIZE; i++)
		add(TX, &(struct desc){.gpa = BUFFERS, .len = HEADER + 60}, 1);
	kick(TX);
	assert_int_equal(fake.sent, SIZE);
	assert_int_equal(fake.bursts, 1);
	assert_int_equal(machine.v.interrupts[TX], 1);
}

/* A busy backend stops the queue. It gets the remaining frames when it is no longer busy or, after a reset, the new frames. */
static void test_send_to_busy_backend(void **state)
{
	activate(0);
	fake.busy = true;
	for (unsigned i = 0; i < 3; i++)
		add(TX, &(struct desc){.gpa = BUFFERS, .len = HEADER + 60}, 1);
	kick(TX);
	assert_int_equal(fake.sent, 1);
	assert_int_equal(used_index(TX), 1);
	kick(TX);
	assert_int_equal(fake.sent, 1);
	fake.base.peer.sendable(*state);
	assert_int_equal(fake.sent, 2);
	fake.busy = false;
	fake.base.peer.sendable(*state);
	assert_int_equal(fake.sent, 3);
	assert_int_equal(used_index(TX), 3);
	fake.busy = true;
	add(TX, &(struct desc){.gpa = BUFFERS, .len = HEADER + 60}, 1);
	kick(TX);
	machine.v.ops->reset(*state);
	fake.busy = false;
	activate(0);
	add(TX, &(struct desc){.gpa = BUFFERS, .len = HEADER + 60}, 1);
	kick(TX);
	assert_int_equal(fake.sent, 5);
}

/* ---- control ---- */

/* Send a command of `len` bytes to the card. Returns the answer, or 0xee without one. */
static uint8_t command(const void *bytes, uint32_t len)
{
	uint16_t before = used_index(CONTROL);

	memcpy(at(BUFFERS), bytes, len);
	*(uint8_t *)at(BUFFERS + 4096) = 0xee;
	add(CONTROL, (struct desc[]){{BUFFERS, len, 0, 0}, {BUFFERS + 4096, 1, WRITE, 0}}, 2);
	kick(CONTROL);
	assert_int_equal((uint16_t)(used_index(CONTROL) - before), !machine.v.broken);
	return *(uint8_t *)at(BUFFERS + 4096);
}

static void test_control(void **state)
{
	(void)state;
	activate(0);
	assert_int_equal(command("\0\0\1", 3), VIRTIO_NET_OK);			    /* promiscuous */
	assert_int_equal(command("\0\1\0", 3), VIRTIO_NET_OK);			    /* not all multicast */
	assert_int_equal(command("\0\0", 2), VIRTIO_NET_ERR);			    /* on or off is missing */
	assert_int_equal(command("\0\0\1\1", 4), VIRTIO_NET_ERR);		    /* too much */
	assert_int_equal(command("\1\1\2\1\2\3\4\5", 8), VIRTIO_NET_OK);	    /* our address */
	assert_int_equal(command("\1\1\2\1\2\3\4", 7), VIRTIO_NET_ERR);		    /* a part of it */
	assert_int_equal(command("\1\0\1\0\0\0ABCDEF\0\0\0\0", 16), VIRTIO_NET_OK); /* two tables */
	assert_int_equal(command("\1\0\1\0\0\0ABCDE\0\0\0\0", 15), VIRTIO_NET_ERR);
	assert_int_equal(command("\1\0\377\377\377\377ABCDEF\0\0\0\0", 16), VIRTIO_NET_ERR);
	assert_int_equal(command("\1\0", 2), VIRTIO_NET_ERR);
	assert_int_equal(command("\4\0\1\0", 4), VIRTIO_NET_ERR); /* queue pairs: not offered */
	assert_int_equal(command("\377\377\377", 3), VIRTIO_NET_ERR);
	assert_false(machine.v.broken);
	assert_int_equal(command("\0", 1), 0xee);
	assert_true(machine.v.broken);
	reset();
	activate(0);
	add(CONTROL, &(struct desc){.gpa = BUFFERS, .len = 3}, 1); /* no room for the answer */
	kick(CONTROL);
	assert_true(machine.v.broken);
}

/* At a reset the card drops the buffers that it holds. It then uses only buffers of the next driver. */
static void test_reset(void **state)
{
	uint8_t frame[2000] = {0};

	(void)state;
	activate(MERGE);
	add_buffer(BUFFERS, 1518);
	assert_false(receive(frame, sizeof(frame)));
	reset();
	assert_false(fake.started);
	activate(MERGE);
	assert_true(fake.started);
	assert_false(receive(frame, 60));
	add_buffer(BUFFERS, 1518);
	kick(RX);
	assert_true(receive(frame, 60));
	assert_int_equal(used_index(RX), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_features, setup, teardown),
		cmocka_unit_test_setup_teardown(test_config, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dependent_features, setup, teardown),
		cmocka_unit_test_setup_teardown(test_receive, setup, teardown),
		cmocka_unit_test_setup_teardown(test_receive_merged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_receive_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_receive_never_fits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_receive_tiny_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_receive_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_send, setup, teardown),
		cmocka_unit_test_setup_teardown(test_send_lengths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_send_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(test_send_burst, setup, teardown),
		cmocka_unit_test_setup_teardown(test_send_to_busy_backend, setup, teardown),
		cmocka_unit_test_setup_teardown(test_control, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reset, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
