/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to a virtio block device from a driver in memory: their effects and answers, and the answers to a hostile driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/virtio_blk.h>
#include <linux/virtio_ring.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/vmm/block/request.h"
#include "hv/vmm/layout.h"

#define QUEUE 128u
#define DESC 0x1000u
#define AVAIL 0x4000u
#define USED 0x5000u
#define DATA 0x100000u /* GPA of what requests point to */

#define SECTORS 256u
#define NO_ANSWER (-1)

/* A part of a chain. */
struct part {
	uint64_t gpa;
	uint32_t len;
	bool write; /* by the device */
};

struct rig {
	char path[64];
	struct ram ram;
	struct dma dma;
	struct virtq q;
	struct blk blk;
	struct blk_queue *queue;
	uint16_t added;	     /* requests that the driver made available */
	unsigned descriptor; /* the next free one */
	unsigned interrupts;
	atomic_bool broken;
	unsigned notes;
	char note[512];
};

/* Replaces the library's fdatasync(). The test counts the calls, and can let them fail. */
static unsigned flushes;
static int flush_errno;
static atomic_uint standing;
static bool flush_asks_to_stand; /* a flush tells all workers to stand */
static unsigned left;

int fdatasync(int fd)
{
	(void)fd;
	flushes++;
	if (flush_asks_to_stand)
		standing = 1;
	errno = flush_errno;
	return flush_errno ? -1 : 0;
}

static unsigned announced;

int posix_fadvise(int fd, off_t offset, off_t len, int advice)
{
	(void)fd;
	assert_int_equal(advice, POSIX_FADV_WILLNEED);
	assert_true(offset % 512 == 0 && len % 512 == 0);
	announced++;
	return 0;
}

static void interrupt(void *ctx, unsigned queue)
{
	(void)queue;
	((struct rig *)ctx)->interrupts++;
}

static void broken(void *ctx, unsigned queue, const char *why)
{
	(void)queue;
	assert_non_null(why);
	((struct rig *)ctx)->broken = true;
}

static void on_left(void *ctx, unsigned queue)
{
	(void)ctx;
	(void)queue;
	left++;
}

static void note(void *ctx, const char *line)
{
	struct rig *rig = ctx;

	rig->notes++;
	snprintf(rig->note, sizeof(rig->note), "%s", line);
}

static void *at(struct rig *rig, uint64_t gpa, size_t len)
{
	void *host = dma_at(&rig->dma, gpa, len);

	assert_non_null(host);
	return host;
}

static uint8_t pattern(uint64_t i)
{
	return (uint8_t)(i * 7 + i / 512 * 13 + 1);
}

static void start_queue(struct rig *rig)
{
	const struct virtq_place place = {
		.size = QUEUE, .desc = DESC, .avail = AVAIL, .used = USED, .event_index = true, .indirect = true};

	memset(at(rig, DESC, USED + 0x1000 - DESC), 0, USED + 0x1000 - DESC);
	rig->added = 0;
	rig->broken = false;
	assert_int_equal(virtq_start(&rig->q, &place), 0);
}

static void open_disk(struct rig *rig, bool read_only, bool overlay)
{
	const struct vmm_disk config = {.path = rig->path, .read_only = read_only, .overlay = overlay};
	struct err err = {0};

	disk_close(rig->blk.disk);
	rig->blk.disk = disk_open(&config, &err);
	if (!rig->blk.disk)
		fail_msg("%s", err.text);
}

static int setup(void **state)
{
	static struct rig rig;
	const struct virtq_wiring wiring = {.interrupt = interrupt,
					    .broken = broken,
					    .left = on_left,
					    .device_broken = &rig.broken,
					    .standing = &standing,
					    .ctx = &rig};
	const struct device_request by = {.type = "virtio-blk", .index = 3};
	struct err err = {0};
	uint8_t bytes[SECTORS * 512];
	int fd;

	rig = (struct rig){.blk = {.id = "outrider-3", .index = 3, .messages = {note, &rig}}};
	flushes = left = 0;
	flush_errno = 0;
	standing = 0;
	flush_asks_to_stand = false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = pattern(i);
	strcpy(rig.path, "/tmp/outrider-blk-XXXXXX");
	fd = mkstemp(rig.path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
	open_disk(&rig, false, false);
	rig.queue = calloc(1, sizeof(*rig.queue));
	assert_int_equal(ram_map(&rig.ram, MIB(64), &err), 0);
	dma_init(&rig.dma, &rig.ram);
	virtq_init(&rig.q, &rig.dma, &by, &wiring);
	start_queue(&rig);
	*state = &rig;
	return 0;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	virtq_stop(&rig->q);
	assert_false(dma_busy(&rig->dma));
	dma_destroy(&rig->dma);
	ram_unmap(&rig->ram);
	disk_close(rig->blk.disk);
	free(rig->queue);
	return unlink(rig->path);
}

/* ---- the driver ---- */

/* Make a chain available. It overwrites the descriptors of older chains, whose requests were served. */
static void add(struct rig *rig, const struct part *parts, unsigned count)
{
	struct vring_desc *desc = at(rig, DESC, QUEUE * sizeof(*desc));
	struct vring_avail *avail = at(rig, AVAIL, sizeof(*avail) + QUEUE * 2);
	unsigned first = rig->descriptor + count <= QUEUE ? rig->descriptor : 0;

	for (unsigned i = 0; i < count; i++)
		desc[first + i] = (struct vring_desc){.addr = parts[i].gpa,
						      .len = parts[i].len,
						      .flags = (uint16_t)((parts[i].write ? VRING_DESC_F_WRITE : 0) |
									  (i + 1 < count ? VRING_DESC_F_NEXT : 0)),
						      .next = (uint16_t)(first + i + 1)};
	rig->descriptor = first + count;
	avail->ring[rig->added++ % QUEUE] = (uint16_t)first;
	__atomic_store_n(&avail->idx, rig->added, __ATOMIC_RELEASE);
}

static uint16_t used(struct rig *rig)
{
	return *(volatile uint16_t *)at(rig, USED + 2, 2);
}

#define HEADER DATA
#define STATUS (DATA + 0x100)
#define BUFFER (DATA + 0x1000)

static void put_header(struct rig *rig, uint32_t type, uint64_t sector)
{
	struct virtio_blk_outhdr header = {.type = type, .sector = sector};

	memcpy(at(rig, HEADER, sizeof(header)), &header, sizeof(header));
	*(uint8_t *)at(rig, STATUS, 1) = 0xee;
}

/* Serve the added requests. Returns the status, or NO_ANSWER. */
static int serve(struct rig *rig)
{
	blk_serve_queue(&rig->blk, &rig->q, rig->queue);
	if (used(rig) != rig->added)
		return NO_ANSWER;
	return *(uint8_t *)at(rig, STATUS, 1);
}

/* Make a request with `len` bytes at BUFFER, which the device writes if `in` is set. Returns its status. */
static int request(struct rig *rig, uint32_t type, uint64_t sector, uint32_t len, bool in)
{
	const struct part with[] = {{HEADER, 16, false}, {BUFFER, len, in}, {STATUS, 1, true}};
	const struct part without[] = {{HEADER, 16, false}, {STATUS, 1, true}};

	put_header(rig, type, sector);
	if (len)
		add(rig, with, 3);
	else
		add(rig, without, 2);
	return serve(rig);
}

static uint8_t *buffer(struct rig *rig, size_t len)
{
	return at(rig, BUFFER, len);
}

/* Read the disk's bytes without the device. */
static void on_disk(struct rig *rig, uint64_t sector, size_t len, uint8_t *bytes)
{
	struct iovec piece = {bytes, len};

	assert_int_equal(disk_read(rig->blk.disk, &piece, 1, sector * 512), 0);
}

/* ---- what a driver may ask ---- */

static void test_read_and_write(void **state)
{
	struct rig *rig = *state;
	uint8_t bytes[2048];

	assert_int_equal(request(rig, VIRTIO_BLK_T_IN, 5, 2048, true), VIRTIO_BLK_S_OK);
	for (size_t i = 0; i < 2048; i++)
		assert_int_equal(buffer(rig, 2048)[i], pattern(5 * 512 + i));
	memset(buffer(rig, 1024), 0xab, 1024);
	assert_int_equal(request(rig, VIRTIO_BLK_T_OUT, 6, 1024, false), VIRTIO_BLK_S_OK);
	on_disk(rig, 5, 2048, bytes);
	for (size_t i = 0; i < 2048; i++)
		assert_int_equal(bytes[i], i >= 512 && i < 1536 ? 0xab : pattern(5 * 512 + i));
	assert_int_equal(request(rig, VIRTIO_BLK_T_IN, SECTORS - 1, 512, true), VIRTIO_BLK_S_OK);
	assert_int_equal(request(rig, VIRTIO_BLK_T_IN, SECTORS, 0, true), VIRTIO_BLK_S_OK);
	assert_int_equal(rig->notes, 0);
}

/* Header and data may be cut anywhere (virtio 1.2, 2.7.4). */
static void test_pieces(void **state)
{
	struct rig *rig = *state;
	const struct part parts[] = {{HEADER, 7, false},      {HEADER + 7, 9, false},	  {BUFFER, 100, true},
				     {BUFFER + 100, 1, true}, {BUFFER + 4096, 923, true}, {STATUS, 1, true}};
	const struct part joined[] = {{HEADER, 16, false}, {BUFFER, 1025, true}};
	const struct vring_used *ring = at(rig, USED, sizeof(*ring) + 2 * sizeof(ring->ring[0]));

	put_header(rig, VIRTIO_BLK_T_IN, 9);
	add(rig, parts, 6);
	assert_int_equal(serve(rig), VIRTIO_BLK_S_OK);
	for (size_t i = 0; i < 1024; i++)
		assert_int_equal(buffer(rig, 8192)[i < 101 ? i : 4096 + i - 101], pattern(9 * 512 + i));
	assert_int_equal(ring->ring[0].len, 1025);
	/* The status is the last byte of the last part. */
	put_header(rig, VIRTIO_BLK_T_IN, 9);
	buffer(rig, 1025)[1024] = 0xee;
	add(rig, joined, 2);
	serve(rig);
	assert_int_equal(used(rig), 2);
	assert_int_equal(buffer(rig, 1025)[1024], VIRTIO_BLK_S_OK);
}

static void test_id(void **state)
{
	struct rig *rig = *state;

	memset(buffer(rig, 32), 0xcc, 32);
	assert_int_equal(request(rig, VIRTIO_BLK_T_GET_ID, 0, 20, true), VIRTIO_BLK_S_OK);
	assert_string_equal((const char *)buffer(rig, 20), "outrider-3");
	memset(buffer(rig, 32), 0xcc, 32);
	assert_int_equal(request(rig, VIRTIO_BLK_T_GET_ID, 0, 4, true), VIRTIO_BLK_S_OK);
	assert_memory_equal(buffer(rig, 8), "outr\xcc\xcc\xcc\xcc", 8);
	assert_int_equal(request(rig, VIRTIO_BLK_T_GET_ID, 0, 0, true), VIRTIO_BLK_S_OK);
}

static void test_flush(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(request(rig, VIRTIO_BLK_T_OUT, 0, 512, false), VIRTIO_BLK_S_OK);
	assert_int_equal(flushes, 0);
	assert_int_equal(request(rig, VIRTIO_BLK_T_FLUSH, 0, 0, false), VIRTIO_BLK_S_OK);
	assert_int_equal(flushes, 1);
	/* The driver has not negotiated flushes. */
	atomic_store(&rig->blk.write_through, true);
	assert_int_equal(request(rig, VIRTIO_BLK_T_OUT, 0, 512, false), VIRTIO_BLK_S_OK);
	assert_int_equal(flushes, 2);
	assert_int_equal(request(rig, VIRTIO_BLK_T_IN, 0, 512, true), VIRTIO_BLK_S_OK);
	assert_int_equal(flushes, 2);
	/* The host's kernel reports lost data only once. From then on, every flush of the guest fails. */
	flush_errno = EIO;
	assert_int_equal(request(rig, VIRTIO_BLK_T_FLUSH, 0, 0, false), VIRTIO_BLK_S_IOERR);
	flush_errno = 0;
	assert_int_equal(request(rig, VIRTIO_BLK_T_FLUSH, 0, 0, false), VIRTIO_BLK_S_IOERR);
	assert_int_equal(request(rig, VIRTIO_BLK_T_OUT, 0, 512, false), VIRTIO_BLK_S_IOERR);
	assert_int_equal(rig->notes, 1);
	assert_non_null(strstr(rig->note, "disk 3: the host cannot flush /tmp/outrider-blk-"));
}

/* Between the requests of a batch, the worker checks whether it is to stand. Requests that it has not begun stay in the queue.
 */
static void test_stands_within_a_batch(void **state)
{
	struct rig *rig = *state;
	const struct part parts[] = {{HEADER, 16, false}, {STATUS, 1, true}};

	put_header(rig, VIRTIO_BLK_T_FLUSH, 0);
	for (unsigned i = 0; i < 5; i++)
		add(rig, parts, 2);
	flush_asks_to_stand = true;
	blk_serve_queue(&rig->blk, &rig->q, rig->queue);
	assert_int_equal(flushes, 1);
	assert_int_equal(used(rig), 1);
	assert_true(left > 0);
	flush_asks_to_stand = false;
	standing = 0;
	assert_int_equal(serve(rig), VIRTIO_BLK_S_OK);
	assert_int_equal(flushes, 5);
	assert_int_equal(used(rig), 5);
}

struct range {
	uint64_t sector;
	uint32_t sectors, flags;
};

/* Make a request with ranges. Returns its status. */
static int clear(struct rig *rig, uint32_t type, const struct range *ranges, unsigned count)
{
	memcpy(buffer(rig, count * sizeof(*ranges)), ranges, count * sizeof(*ranges));
	return request(rig, type, 0, (uint32_t)(count * sizeof(*ranges)), false);
}

static void test_write_zeroes(void **state)
{
	static const struct range ranges[] = {{3, 2, 0}, {7, 1, VIRTIO_BLK_WRITE_ZEROES_FLAG_UNMAP}, {SECTORS, 0, 0}};
	struct rig *rig = *state;
	uint8_t bytes[8 * 512];

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		assert_int_equal(clear(rig, VIRTIO_BLK_T_WRITE_ZEROES, &ranges[i], 1), VIRTIO_BLK_S_OK);
	on_disk(rig, 0, sizeof(bytes), bytes);
	for (size_t i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], (i / 512 == 3 || i / 512 == 4 || i / 512 == 7) ? 0 : pattern(i));
}

static void test_discard(void **state)
{
	static const struct range ranges[] = {{8, 8, 0}, {32, 16, 0}};
	struct rig *rig = *state;
	uint8_t bytes[64 * 512];

	assert_int_equal(clear(rig, VIRTIO_BLK_T_DISCARD, ranges, 2), VIRTIO_BLK_S_OK);
	on_disk(rig, 0, sizeof(bytes), bytes);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		size_t sector = i / 512;

		if ((sector >= 8 && sector < 16) || (sector >= 32 && sector < 48))
			assert_true(bytes[i] == 0 || bytes[i] == pattern(i));
		else
			assert_int_equal(bytes[i], pattern(i));
	}
}

/* The worker serves all requests of a full ring in one pass, with few interrupts. */
static void test_full_queue(void **state)
{
	const struct part parts[] = {{HEADER, 16, false}, {BUFFER, 512, true}, {STATUS, 1, true}};
	struct rig *rig = *state;
	uint16_t *used_event = at(rig, AVAIL + 4 + 2 * QUEUE, 2);

	put_header(rig, VIRTIO_BLK_T_IN, 1);
	for (unsigned i = 0; i < QUEUE / 3; i++)
		add(rig, parts, 3);
	*used_event = 0;
	assert_int_equal(serve(rig), VIRTIO_BLK_S_OK);
	assert_true(rig->interrupts >= 1);
	assert_true(rig->interrupts <= QUEUE / 3 / 2);
	/* The event index asks the driver to notify of the next request. */
	assert_int_equal(*(uint16_t *)at(rig, USED + 4 + 8 * QUEUE, 2), rig->added);
}

/* While reads wait for the host's medium, the worker announces to the host all reads that the driver has requested. */
static void test_announced_reads(void **state)
{
	const struct part parts[] = {{HEADER, 16, false}, {BUFFER, 512, true}, {STATUS, 1, true}};
	struct rig *rig = *state;

	announced = 0;
	rig->queue->announce = 20;
	put_header(rig, VIRTIO_BLK_T_IN, 1);
	for (unsigned i = 0; i < 2 * BLK_BATCH; i++)
		add(rig, parts, 3);
	assert_int_equal(serve(rig), VIRTIO_BLK_S_OK);
	assert_in_range(announced, 20, 2 * BLK_BATCH); /* a read of the test may have been slow */
	/* The worker does not announce a single read, nor a read outside the disk. */
	announced = 0;
	rig->queue->announce = 20;
	assert_int_equal(request(rig, VIRTIO_BLK_T_IN, 0, 512, true), VIRTIO_BLK_S_OK);
	put_header(rig, VIRTIO_BLK_T_IN, SECTORS);
	add(rig, parts, 3);
	add(rig, parts, 3);
	assert_int_equal(serve(rig), VIRTIO_BLK_S_IOERR);
	assert_int_equal(announced, 0);
}

/* ---- what a hostile driver gets ---- */

static void test_ranges_outside_the_disk(void **state)
{
	static const struct {
		uint64_t sector;
		uint32_t len;
	} bad[] = {{SECTORS, 512},
		   {SECTORS - 1, 1024},
		   {UINT64_MAX, 512},
		   {UINT64_MAX / 512, 512},
		   {UINT64_MAX / 512 + 1, 512},
		   {(1ull << 55) + 1, 512},
		   {INT64_MAX, 512},
		   {0, 511},
		   {0, 513},
		   {0, 1},
		   {0, SECTORS * 512 + 512}};
	struct rig *rig = *state;
	uint8_t before[SECTORS * 512], after[SECTORS * 512];

	on_disk(rig, 0, sizeof(before), before);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(buffer(rig, MIB(1)), 0x5a, MIB(1));
		assert_int_equal(request(rig, VIRTIO_BLK_T_IN, bad[i].sector, bad[i].len, true), VIRTIO_BLK_S_IOERR);
		for (size_t at_byte = 0; at_byte < bad[i].len; at_byte++)
			assert_int_equal(buffer(rig, MIB(1))[at_byte], 0x5a);
		assert_int_equal(request(rig, VIRTIO_BLK_T_OUT, bad[i].sector, bad[i].len, false), VIRTIO_BLK_S_IOERR);
	}
	on_disk(rig, 0, sizeof(after), after);
	assert_memory_equal(before, after, sizeof(before));
	/* The error is the guest's, so the user gets no message. */
	assert_int_equal(rig->notes, 0);
	assert_false(rig->broken);
}

/* The device refuses more bytes than size_max and seg_max allow, so that no request keeps a worker busy for minutes. */
static void test_huge_request(void **state)
{
	static const struct range zeroes = {0, BLK_ZERO_SECTORS + 1, 0}, discard = {0, BLK_DISCARD_SECTORS + 1, 0};
	struct part parts[80] = {{HEADER, 16, false}};
	struct rig *rig = *state;

	assert_int_equal(truncate(rig->path, (off_t)GIB(4)), 0);
	disk_close(rig->blk.disk);
	rig->blk.disk = NULL;
	open_disk(rig, false, true);
	for (unsigned i = 1; i < 79; i++)
		parts[i] = (struct part){MIB(16), MIB(32), true};
	parts[79] = (struct part){STATUS, 1, true};
	put_header(rig, VIRTIO_BLK_T_IN, 0);
	add(rig, parts, 80);
	assert_int_equal(serve(rig), VIRTIO_BLK_S_IOERR);
	assert_int_equal(clear(rig, VIRTIO_BLK_T_WRITE_ZEROES, &zeroes, 1), VIRTIO_BLK_S_IOERR);
	assert_int_equal(clear(rig, VIRTIO_BLK_T_DISCARD, &discard, 1), VIRTIO_BLK_S_IOERR);
	assert_int_equal(rig->notes, 0);
}

static void test_unknown_types(void **state)
{
	static const uint32_t types[] = {2, 3, 5, 7, 9, 12, 14, 15, 0x80000000u, 0x100, UINT32_MAX};
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		assert_int_equal(request(rig, types[i], 0, 512, i % 2), VIRTIO_BLK_S_UNSUPP);
}

struct told {
	struct device_access access;
	unsigned count;
};

static void on_segment(void *ctx, const struct device_access *access)
{
	struct told *told = ctx;

	told->access = *access;
	told->count++;
}

static void on_ring(void *ctx, const struct device_access *access)
{
	(void)ctx;
	(void)access;
}

/* For a refused request the device writes only the status, and reports that access like any other. */
static void test_refusal_is_told(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t sector;
		bool in;
		enum device_op op;
	} refused[] = {
		{VIRTIO_BLK_T_IN, SECTORS, true, DEVICE_BLK_READ},
		{VIRTIO_BLK_T_OUT, SECTORS, false, DEVICE_BLK_WRITE},
		{VIRTIO_BLK_T_DISCARD, 0, false, DEVICE_BLK_DISCARD},
		{VIRTIO_BLK_T_WRITE_ZEROES, 0, false, DEVICE_BLK_WRITE_ZEROES},
		{99, 0, true, DEVICE_OP_UNKNOWN},
	};
	struct rig *rig = *state;
	struct told told;
	const struct device_observer observer = {.segment = on_segment, .ring = on_ring, .ctx = &told};

	memset(buffer(rig, 512), 0xff, 512);
	dma_observe(&rig->dma, &observer);
	dma_watch(&rig->dma, UINT64_MAX);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		told.count = 0;
		assert_int_not_equal(request(rig, refused[i].type, refused[i].sector, 512, refused[i].in), VIRTIO_BLK_S_OK);
		assert_int_equal(told.count, 1);
		assert_int_equal(told.access.request.op, refused[i].op);
		assert_int_equal(told.access.request.sector, refused[i].sector);
		assert_int_equal(told.access.gpa, STATUS);
		assert_int_equal(told.access.len, 1);
		assert_int_equal(told.access.descriptor, 2);
		assert_true(told.access.write);
		assert_false(dma_busy(&rig->dma));
	}
	dma_watch(&rig->dma, 0);
	dma_observe(&rig->dma, NULL);
}

struct told_bytes {
	uint64_t read, written;
};

static void count_bytes(void *ctx, const struct device_access *access)
{
	struct told_bytes *told = ctx;

	*(access->write ? &told->written : &told->read) += access->len;
}

/* A buffer may be larger than its request needs. The rest belongs to the driver, and the device reports no access to it. */
static void test_only_what_is_accessed_is_told(void **state)
{
	static const struct {
		uint32_t type;
		uint32_t len;
		uint64_t written;
	} requests[] = {
		{VIRTIO_BLK_T_GET_ID, 64, BLK_ID_LEN + 1}, {VIRTIO_BLK_T_GET_ID, BLK_ID_LEN, BLK_ID_LEN + 1},
		{VIRTIO_BLK_T_GET_ID, 4, 4 + 1},	   {VIRTIO_BLK_T_FLUSH, 64, 1},
		{VIRTIO_BLK_T_IN, 512, 512 + 1},
	};
	struct rig *rig = *state;
	struct told_bytes told;
	const struct device_observer observer = {.segment = count_bytes, .ring = on_ring, .ctx = &told};

	dma_observe(&rig->dma, &observer);
	dma_watch(&rig->dma, UINT64_MAX);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		told = (struct told_bytes){0};
		assert_int_equal(request(rig, requests[i].type, 0, requests[i].len, true), VIRTIO_BLK_S_OK);
		assert_int_equal(told.read, sizeof(struct blk_header));
		assert_int_equal(told.written, requests[i].written);
	}
	dma_watch(&rig->dma, 0);
	dma_observe(&rig->dma, NULL);
}

static void test_malformed_chains(void **state)
{
	static const struct part chains[][3] = {
		{{HEADER, 15, false}, {STATUS, 1, true}},
		{{HEADER, 1, false}, {STATUS, 1, true}},
		{{STATUS, 1, true}},
		{{HEADER, 16, false}},
		{{HEADER, 16, false}, {BUFFER, 512, false}},
		{{HEADER, 7, false}, {HEADER + 7, 8, false}, {BUFFER, 512, true}},
	};
	static const unsigned lengths[] = {2, 2, 1, 1, 2, 3};
	struct rig *rig = *state;
	uint8_t before[SECTORS * 512], after[SECTORS * 512];

	on_disk(rig, 0, sizeof(before), before);
	for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
		put_header(rig, VIRTIO_BLK_T_OUT, 0);
		add(rig, chains[i], lengths[i]);
		assert_int_equal(serve(rig), NO_ANSWER);
		assert_true(rig->broken);
		assert_false(dma_busy(&rig->dma));
		/* The device serves no further request until a reset. */
		assert_int_equal(request(rig, VIRTIO_BLK_T_IN, 0, 512, true), NO_ANSWER);
		virtq_stop(&rig->q);
		start_queue(rig);
		assert_int_equal(request(rig, VIRTIO_BLK_T_IN, 0, 512, true), VIRTIO_BLK_S_OK);
	}
	on_disk(rig, 0, sizeof(after), after);
	assert_memory_equal(before, after, sizeof(before));
}

static void test_hostile_ranges(void **state)
{
	static const struct {
		struct range range;
		bool zero;
		int status;
	} bad[] = {
		{{0, 8, VIRTIO_BLK_WRITE_ZEROES_FLAG_UNMAP}, false, VIRTIO_BLK_S_UNSUPP},
		{{0, 8, 2}, false, VIRTIO_BLK_S_UNSUPP},
		{{0, 8, 0x80000000u}, true, VIRTIO_BLK_S_UNSUPP},
		{{0, SECTORS + 1, 0}, false, VIRTIO_BLK_S_IOERR},
		{{SECTORS, 1, 0}, true, VIRTIO_BLK_S_IOERR},
		{{UINT64_MAX, 1, 0}, false, VIRTIO_BLK_S_IOERR},
		{{UINT64_MAX / 512 + 1, 1, 0}, true, VIRTIO_BLK_S_IOERR},
		{{0, UINT32_MAX, 0}, false, VIRTIO_BLK_S_IOERR},
		{{1, UINT32_MAX, 0}, true, VIRTIO_BLK_S_IOERR},
	};
	static const struct range second_is_bad[] = {{0, 64, 0}, {SECTORS, 1, 0}};
	struct range many[BLK_DISCARD_SEGMENTS + 1] = {{0, 8, 0}};
	struct rig *rig = *state;
	uint8_t before[SECTORS * 512], after[SECTORS * 512];

	on_disk(rig, 0, sizeof(before), before);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(clear(rig, bad[i].zero ? VIRTIO_BLK_T_WRITE_ZEROES : VIRTIO_BLK_T_DISCARD, &bad[i].range, 1),
				 bad[i].status);
	/* If one of the ranges is invalid, the device clears none of them. */
	assert_int_equal(clear(rig, VIRTIO_BLK_T_DISCARD, second_is_bad, 2), VIRTIO_BLK_S_IOERR);
	assert_int_equal(clear(rig, VIRTIO_BLK_T_DISCARD, many, BLK_DISCARD_SEGMENTS + 1), VIRTIO_BLK_S_IOERR);
	assert_int_equal(clear(rig, VIRTIO_BLK_T_WRITE_ZEROES, many, 2), VIRTIO_BLK_S_IOERR);
	assert_int_equal(request(rig, VIRTIO_BLK_T_DISCARD, 0, 0, false), VIRTIO_BLK_S_IOERR);
	assert_int_equal(request(rig, VIRTIO_BLK_T_DISCARD, 0, 15, false), VIRTIO_BLK_S_IOERR);
	assert_int_equal(request(rig, VIRTIO_BLK_T_WRITE_ZEROES, 0, 17, false), VIRTIO_BLK_S_IOERR);
	on_disk(rig, 0, sizeof(after), after);
	assert_memory_equal(before, after, sizeof(before));
	assert_int_equal(rig->notes, 0);
}

static void test_read_only(void **state)
{
	static const struct range range = {0, 8, 0};
	struct rig *rig = *state;
	uint8_t bytes[512];

	disk_close(rig->blk.disk);
	rig->blk.disk = NULL;
	open_disk(rig, true, false);
	memset(buffer(rig, 512), 0, 512);
	assert_int_equal(request(rig, VIRTIO_BLK_T_OUT, 0, 512, false), VIRTIO_BLK_S_IOERR);
	assert_int_equal(clear(rig, VIRTIO_BLK_T_DISCARD, &range, 1), VIRTIO_BLK_S_IOERR);
	assert_int_equal(clear(rig, VIRTIO_BLK_T_WRITE_ZEROES, &range, 1), VIRTIO_BLK_S_IOERR);
	assert_int_equal(request(rig, VIRTIO_BLK_T_IN, 0, 512, true), VIRTIO_BLK_S_OK);
	on_disk(rig, 0, 512, bytes);
	assert_memory_equal(bytes, buffer(rig, 512), 512);
	assert_int_equal(rig->notes, 0);
}

/* If the host's disk is full, the guest gets errors and goes on, and the user gets one message. */
static void test_full_host(void **state)
{
	struct rig *rig = *state;
	struct rlimit old, small;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){16 * 512, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(request(rig, VIRTIO_BLK_T_OUT, 16, 4096, false), VIRTIO_BLK_S_IOERR);
	assert_int_equal(request(rig, VIRTIO_BLK_T_OUT, 8, 4096, false), VIRTIO_BLK_S_OK);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(request(rig, VIRTIO_BLK_T_OUT, 16, 4096, false), VIRTIO_BLK_S_OK);
	assert_int_equal(rig->notes, 1);
	assert_non_null(strstr(rig->note, "disk 3: no room on the host for what the guest writes to /tmp/outrider-blk-"));
	signal(SIGXFSZ, handler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read_and_write, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flush, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stands_within_a_batch, setup, teardown),
		cmocka_unit_test_setup_teardown(test_write_zeroes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_discard, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(test_announced_reads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ranges_outside_the_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(test_huge_request, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_types, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusal_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_what_is_accessed_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_malformed_chains, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_ranges, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_only, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_host, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
