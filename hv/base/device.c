// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts devices and their operations to the words that reports have for them, and back. */
#include "hv/base/device.h"

#include <stdio.h>
#include <string.h>

/*
 * One entry for each enum device_op: the type of the devices that have the operation, the operation's word in reports, and
 * whether its request names a sector.
 */
static const struct {
	const char *type, *word;
	bool sector;
} ops[DEVICE_OPS] = {
	[DEVICE_BLK_READ] = {"virtio-blk", "read", true},
	[DEVICE_BLK_WRITE] = {"virtio-blk", "write", true},
	[DEVICE_BLK_FLUSH] = {"virtio-blk", "flush", false},
	[DEVICE_BLK_DISCARD] = {"virtio-blk", "discard", true},
	[DEVICE_BLK_WRITE_ZEROES] = {"virtio-blk", "write-zeroes", true},
	[DEVICE_BLK_GET_ID] = {"virtio-blk", "get-id", false},
	[DEVICE_NET_RECEIVE] = {"virtio-net", "receive", false},
	[DEVICE_NET_TRANSMIT] = {"virtio-net", "transmit", false},
	[DEVICE_NET_CONTROL] = {"virtio-net", "control", false},
	[DEVICE_RNG_FILL] = {"virtio-rng", "fill", false},
	[DEVICE_VSOCK_RECEIVE] = {"virtio-vsock", "receive", false},
	[DEVICE_VSOCK_TRANSMIT] = {"virtio-vsock", "transmit", false},
	[DEVICE_VSOCK_EVENT] = {"virtio-vsock", "event", false},
};

void device_name(const struct device_request *request, char out[DEVICE_NAME_MAX])
{
	snprintf(out, DEVICE_NAME_MAX, "%.*s %u", DEVICE_TYPE_MAX - 1, request->type, request->index);
}

const char *device_op_word(enum device_op op)
{
	return (unsigned)op < DEVICE_OPS && ops[op].word ? ops[op].word : "unknown";
}

enum device_op device_op_from_word(const char *type, const char *word)
{
	for (unsigned op = 0; op < DEVICE_OPS; op++) {
		if (ops[op].word && strcmp(ops[op].type, type) == 0 && strcmp(ops[op].word, word) == 0)
			return (enum device_op)op;
	}
	return DEVICE_OP_UNKNOWN;
}

bool device_op_has_sector(enum device_op op)
{
	return (unsigned)op < DEVICE_OPS && ops[op].sector;
}
