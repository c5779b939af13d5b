/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serves the control queue of a network device: checks that a driver's command is complete, and acknowledges it. */
#include <endian.h>

#include <linux/virtio_net.h>

#include "hv/vmm/net/control.h"

/* Returns true if the command's data consists of exactly two tables, each a count followed by that number of addresses. */
static bool are_address_tables(struct virtq_request *rq, uint64_t offset)
{
	for (unsigned i = 0; i < 2; i++) {
		uint32_t entries;

		if (virtq_read(rq, offset, &entries, sizeof(entries)) < sizeof(entries))
			return false;
		offset += sizeof(entries) + (uint64_t)le32toh(entries) * 6;
	}
	return offset == rq->read_len;
}

static bool is_complete(struct virtq_request *rq, const struct virtio_net_ctrl_hdr *command)
{
	uint64_t data = rq->read_len - sizeof(*command);

	switch (command->class) {
	case VIRTIO_NET_CTRL_RX:
		return command->cmd <= VIRTIO_NET_CTRL_RX_ALLMULTI && data == 1;
	case VIRTIO_NET_CTRL_MAC:
		if (command->cmd == VIRTIO_NET_CTRL_MAC_TABLE_SET)
			return are_address_tables(rq, sizeof(*command));
		return command->cmd == VIRTIO_NET_CTRL_MAC_ADDR_SET && data == 6;
	default:
		return false;
	}
}

void net_control_serve(struct virtq_request *rq)
{
	struct virtio_net_ctrl_hdr command;
	virtio_net_ctrl_ack ack;

	if (rq->write_len != sizeof(ack) || virtq_read(rq, 0, &command, sizeof(command)) < sizeof(command)) {
		virtq_break(rq->q, "a command of the control queue is too short, or has no room for the acknowledgement");
		virtq_drop(rq);
		return;
	}
	virtq_begin(rq, DEVICE_NET_CONTROL, 0);
	ack = is_complete(rq, &command) ? VIRTIO_NET_OK : VIRTIO_NET_ERR;
	virtq_write(rq, 0, &ack, sizeof(ack));
	virtq_push(rq, sizeof(ack));
}
