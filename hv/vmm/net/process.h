/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The network process of a run: user-mode networking (slirp.h) in a helper process (hv/sandbox/helper.h), confined to sockets
 * of IPv4 and IPv6. If a guest takes over this process, or makes it crash or loop, only the guest's network is lost; the run
 * continues. wire.h defines the messages.
 */
#ifndef OUTRIDER_VMM_NET_PROCESS_H
#define OUTRIDER_VMM_NET_PROCESS_H

#include <sys/types.h>

/* Body of the process, for helper_start(). `ctx` is the `const struct vmm_net *` with the ports to forward. */
void net_process_serve(void *ctx, pid_t parent, int socket);

#endif
