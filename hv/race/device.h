/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device's access to guest memory: what it served, for whom and where. Plain data: the VMM's devices fill it in, the detector
 * compares it with windows, and the record of a race keeps it in place of a vCPU, for a device has none.
 *
 * The functions are pure. Any thread.
 */
#ifndef OUTRIDER_RACE_DEVICE_H
#define OUTRIDER_RACE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#define DEVICE_TYPE_MAX 24   /* bytes of a device's type with the NUL */
#define DEVICE_THREAD_MAX 16 /* bytes of a thread's name with the NUL, as in pthread_setname_np(3) */
#define DEVICE_NAME_MAX 40   /* bytes of device_name() with the NUL */

/* What a device does for a request. Other than the access to one segment: a read of a disk writes to guest memory. */
enum device_op {
	DEVICE_OP_UNKNOWN,
	DEVICE_BLK_READ,
	DEVICE_BLK_WRITE,
	DEVICE_BLK_FLUSH,
	DEVICE_BLK_DISCARD,
	DEVICE_BLK_WRITE_ZEROES,
	DEVICE_BLK_GET_ID,
	DEVICE_NET_RECEIVE,
	DEVICE_NET_TRANSMIT,
	DEVICE_NET_CONTROL,
	DEVICE_RNG_FILL,
	DEVICE_VSOCK_RECEIVE,
	DEVICE_VSOCK_TRANSMIT,
	DEVICE_VSOCK_EVENT,
	DEVICE_OPS,
};

/* A request that a device serves. */
struct device_request {
	/* The device's type, such as "virtio-blk". It is part of a race's identity, so it is the same in every run. */
	char type[DEVICE_TYPE_MAX];
	/* Number of the device among those of its type, from 0 in the order of the command line. */
	unsigned index;
	/* Number of the virtqueue that the request came by. */
	unsigned queue;
	/* Index in the queue's descriptor table of the first descriptor of the request's chain. */
	uint16_t head;
	enum device_op op;
	/* The first sector of 512 bytes, for operations of a disk that have one; else 0. */
	uint64_t sector;
	/* The thread of the VMM that serves the request: its id, as gettid(2) says, and its name. */
	int32_t tid;
	char thread[DEVICE_THREAD_MAX];
};

/* One access of a device to guest memory: to one segment of a request, or to the ring. */
struct device_access {
	struct device_request request;
	/* GPA of the first byte. */
	uint64_t gpa;
	/* Bytes. */
	uint32_t len;
	/* The device writes to guest memory. False: it reads. */
	bool write;
	/*
	 * Which descriptor of the request's chain the bytes are of: its number along the chain, from 0, with those of an
	 * indirect table counted as if these stood in the chain themselves.
	 */
	uint16_t descriptor;
};

/*
 * Who is told of devices' accesses to memory that may be watched. There are two kinds, and hv/vmm/dma.h says more of both. The
 * memory need not be watched: only the pages were compared, by device_filter().
 */
struct device_observer {
	/* A device accesses a segment of a request that it serves, or is sure to do so soon. */
	void (*segment)(void *ctx, const struct device_access *access);
	/*
	 * A device accesses a ring: descriptors, available and used ring, event indices. Driver and device do that at the same
	 * time by design. Of a store the observer is told before it is made.
	 */
	void (*ring)(void *ctx, const struct device_access *access);
	/* The first argument of both. */
	void *ctx;
};

/* Write the device's name, such as "virtio-blk 0". */
void device_name(const struct device_request *request, char out[DEVICE_NAME_MAX]);

/* The word for an operation, such as "read" or "write-zeroes". It is part of a race's identity. "unknown" for any other value.
 */
const char *device_op_word(enum device_op op);

/*
 * The operation of a device of this type with this word, for reports that are read back. DEVICE_OP_UNKNOWN: there is no such
 * operation.
 */
enum device_op device_op_from_word(const char *type, const char *word);

/* Whether the operation has a sector. */
bool device_op_has_sector(enum device_op op);

/*
 * A filter for memory that is watched: one bit for each page number modulo 64. An access can only touch watched bytes when its
 * filter has a bit in common with theirs.
 */
static inline uint64_t device_filter(uint64_t gpa, uint64_t len)
{
	uint64_t first = gpa >> 12, pages = len ? ((gpa + len - 1) >> 12) - first + 1 : 0;
	uint64_t bits = pages >= 64 ? UINT64_MAX : (UINT64_C(1) << pages) - 1;

	/* Rotated left, so that page n has bit n % 64. */
	return first % 64 ? bits << first % 64 | bits >> (64 - first % 64) : bits;
}

#endif
