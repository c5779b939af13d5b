/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device's access to guest memory, and the request that the device was serving. Plain data: the VMM's devices fill it in, the
 * detector compares it with open windows, and the record of a race stores it for a side that is a device, in place of a vCPU's
 * registers and stack.
 *
 * The functions are pure. Any thread.
 */
#ifndef OUTRIDER_BASE_DEVICE_H
#define OUTRIDER_BASE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#define DEVICE_TYPE_MAX 24   /* bytes of a device's type, including the NUL */
#define DEVICE_THREAD_MAX 16 /* bytes of a thread's name, including the NUL, as in pthread_setname_np(3) */
#define DEVICE_NAME_MAX 40   /* bytes of device_name(), including the NUL */

/*
 * The operation that a request asks for. Its direction is opposite to the access: to serve a disk read, the device writes to
 * guest memory.
 */
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
	/* The device's type, such as "virtio-blk". Part of a race's identity, so it is the same in every run. */
	char type[DEVICE_TYPE_MAX];
	/* Index of the device among the devices of its type, from 0 in command line order. */
	unsigned index;
	/* Index of the virtqueue that the request came from. */
	unsigned queue;
	/* Head of the request's descriptor chain: an index into the queue's descriptor table. */
	uint16_t head;
	enum device_op op;
	/* The first sector (of 512 bytes) if the operation has a sector; otherwise 0. */
	uint64_t sector;
	/* The VMM's thread that serves the request: its id by gettid(2), and its name. */
	int32_t tid;
	char thread[DEVICE_THREAD_MAX];
};

/* One access of a device to guest memory: to a segment of a request, or to the ring. */
struct device_access {
	struct device_request request;
	/* GPA of the first byte. */
	uint64_t gpa;
	/* Bytes. */
	uint32_t len;
	/* True: the device writes to guest memory. False: it reads. */
	bool write;
	/*
	 * Index of the accessed descriptor along the request's chain, from 0. Descriptors of an indirect table count as if they
	 * were in the chain themselves.
	 */
	uint16_t descriptor;
};

/* A part of a request's memory that the device reads or writes. */
struct device_segment {
	uint64_t gpa;
	uint32_t len;	     /* in bytes; 0 is allowed */
	bool write;	     /* True: the device writes to guest memory. False: it reads. */
	uint16_t descriptor; /* as in struct device_access */
};

/*
 * Callbacks for a device's accesses to memory that a window may watch: segment() for the memory of a request, ring() for a
 * virtqueue's ring (hv/vmm/dma.h). The VMM calls segment() and ring() if the device_filter() of the access and that of the
 * watched memory have a common bit. The bits are page numbers modulo 64, so calls also come for memory that no window watches.
 * request() and hold_end() let the observer delay a request: until the delay is over, the device does not access the memory of
 * the request.
 */
struct device_observer {
	/* A device accesses a segment of the request that it serves, or is about to access it. */
	void (*segment)(void *ctx, const struct device_access *access);
	/*
	 * A device accesses a ring: descriptors, available ring, used ring or event indices. Driver and device share these by
	 * design. For a store, the callback comes before the store.
	 */
	void (*ring)(void *ctx, const struct device_access *access);
	/*
	 * A device has taken a request from its queue, and will access these segments. Returns the time in ns that the device
	 * must wait before it accesses them; 0: it accesses them at once. `segments` stay valid until the last call of
	 * hold_end(). Called only for the requests that dma_want() asks for. NULL: called for no request.
	 */
	uint64_t (*request)(void *ctx, const struct device_request *by, const struct device_segment *segments, unsigned count);
	/*
	 * The wait that request() or the last call of hold_end() asked for is over. Returns the time in ns that the device must
	 * wait once more; 0: it accesses the segments now. `last`: the wait was cut short; the device ignores the result of
	 * hold_end(), and accesses the segments now. Called on the same thread as request().
	 */
	uint64_t (*hold_end)(void *ctx, bool last);
	/* First argument of all callbacks. */
	void *ctx;
};

/* Write the device's name, such as "virtio-blk 0". */
void device_name(const struct device_request *request, char out[DEVICE_NAME_MAX]);

/* Returns the word for an operation, such as "read" or "write-zeroes", or "unknown". The word is part of a race's identity. */
const char *device_op_word(enum device_op op);

/*
 * The reverse of device_op_word(), for reading reports. Returns the operation whose word is `word` among the operations of
 * devices of the type `type`, or DEVICE_OP_UNKNOWN if no operation has this word.
 */
enum device_op device_op_from_word(const char *type, const char *word);

/* Returns true if the operation has a sector. */
bool device_op_has_sector(enum device_op op);

/*
 * Returns a Bloom filter of a memory range: bit n is set if the range has a page whose number is n modulo 64. An access can
 * only touch watched bytes if the filter of the access and the filter of the watched bytes have a common bit.
 */
static inline uint64_t device_filter(uint64_t gpa, uint64_t len)
{
	uint64_t first = gpa >> 12, pages = len ? ((gpa + len - 1) >> 12) - first + 1 : 0;
	uint64_t bits = pages >= 64 ? UINT64_MAX : (UINT64_C(1) << pages) - 1;

	/* Rotate left, so that page n sets bit n % 64. */
	return first % 64 ? bits << first % 64 | bits >> (64 - first % 64) : bits;
}

#endif
