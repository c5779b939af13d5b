/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Domains of libvirt's QEMU driver: which there are, whether they can be attached to, and a private gdbstub on one of them,
 * opened through QEMU's monitor on a socketpair (no path that others could connect to) and closed again.
 *
 * A domain belongs to one thread, but for domain_lost(). Each error says what to do.
 */
#ifndef OUTRIDER_LIBVIRT_DOMAIN_H
#define OUTRIDER_LIBVIRT_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "hv/base/err.h"

struct domain;

/* Find a domain by name, UUID or id. `uri` NULL: libvirt's default. NULL: see err, as when it cannot be attached to. */
struct domain *domain_open(const char *uri, const char *name, struct err *err);
void domain_free(struct domain *d);

struct domain_facts {
	char name[256];
	char kernel[1024], cmdline[2048]; /* "": in its image */
	uint64_t memory;		  /* bytes */
	unsigned cpus;
	bool kvm;
};

const struct domain_facts *domain_facts(const struct domain *d);

/* Of its QEMU on this host; 0: not known. */
pid_t domain_pid(const struct domain *d);

/*
 * Open a gdbstub; that stops the machine. The descriptor, the caller's, or -1 with err set. One that a killed outrider has left
 * behind is closed first; then *leftover becomes true.
 */
int domain_open_stub(struct domain *d, bool *leftover, struct err *err);

/* The same from elsewhere: of a process that can no longer do it. */
void domain_drop_stub(const char *uri, const char *name);

/* Close it again, also if libvirtd was restarted meanwhile. 0, or -1 with err set. */
int domain_close_stub(struct domain *d, struct err *err);

/*
 * What became of the machine while we were at it, in one line for the user, or NULL: nothing that would end a session. Any
 * thread; domain_open() started one that listens.
 */
const char *domain_event(struct domain *d);

/* Each domain with its state and why it cannot be attached to ("": it can). */
struct domain_listed {
	const char *name, *state, *why_not;
};
int domain_list(const char *uri, void (*each)(void *ctx, const struct domain_listed *domain), void *ctx, struct err *err);

#endif
