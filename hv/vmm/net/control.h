/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of virtio-net's control queue (virtio 1.2, section 5.1.6.5) that need no answer but "done": receive modes, the
 * table of addresses, and the card's own address. They tell a card what it need not deliver. This one delivers everything, so
 * it only checks that a command is complete.
 */
#ifndef OUTRIDER_VMM_NET_CONTROL_H
#define OUTRIDER_VMM_NET_CONTROL_H

#include "hv/vmm/virtio/queue.h"

/*
 * Serve the command, and push it. A command that is unknown or not complete is answered with VIRTIO_NET_ERR. One without room
 * for the answer, or with an answer of more than one byte, breaks the device.
 */
void net_control_serve(struct virtq_request *rq);

#endif
