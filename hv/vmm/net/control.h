/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves virtio-net's control queue (virtio 1.2, section 5.1.6.5). The driver's commands set receive modes, the table of
 * addresses, and the device's own address. They tell a device which frames it need not deliver. This device delivers all
 * frames, so it only checks that a command is complete.
 */
#ifndef OUTRIDER_VMM_NET_CONTROL_H
#define OUTRIDER_VMM_NET_CONTROL_H

#include "hv/vmm/virtio/queue.h"

/*
 * Serve the command, and return it to the driver (virtq_push()). The acknowledgement of an unknown or incomplete command is
 * VIRTIO_NET_ERR. A command that has not exactly one byte of room for the acknowledgement breaks the device (virtq_break()).
 */
void net_control_serve(struct virtq_request *rq);

#endif
