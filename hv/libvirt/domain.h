/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Domains of libvirt's QEMU driver: which domains there are, whether one can be attached to, and a private gdbstub on one of
 * them. The gdbstub is opened through QEMU's monitor on a socketpair, so that there is no path to which others could connect,
 * and is closed again.
 *
 * A struct domain belongs to one thread, except for domain_event(). Every error says what the user can do.
 */
#ifndef OUTRIDER_LIBVIRT_DOMAIN_H
#define OUTRIDER_LIBVIRT_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "hv/base/err.h"
#include "hv/libvirt/facts.h"

struct domain;

/*
 * Find a domain by its name, UUID or id. A `uri` of NULL is libvirt's default. Returns NULL with `err` set on failure, for
 * example when the domain cannot be attached to.
 */
struct domain *domain_open(const char *uri, const char *name, struct err *err);

/* Close the gdbstub if it is open, and free the domain. NULL is allowed. */
void domain_free(struct domain *d);

const struct domain_facts *domain_facts(const struct domain *d);

/* The process id of the domain's QEMU on this host, or 0 when it is not known. */
pid_t domain_pid(const struct domain *d);

/*
 * Open a gdbstub, which stops the machine. A gdbstub that a killed outrider has left behind is closed first, and then
 * `leftover` becomes true; else it is left as it is. Returns the descriptor, which the caller owns, or -1 with `err` set.
 */
int domain_open_stub(struct domain *d, bool *leftover, struct err *err);

/* Close the gdbstub again, even if libvirtd was restarted meanwhile. Returns 0, or -1 with `err` set. */
int domain_close_stub(struct domain *d, struct err *err);

/* Leave the gdbstub open when the domain is freed, because another process will close it. */
void domain_leave_stub(struct domain *d);

/* Close the gdbstub that another process has opened on a domain and can no longer close. */
void domain_drop_stub(const char *uri, const char *name);

/* What became of the machine. Constant. */
struct domain_event {
	const char *what; /* In a few words for the user. */
	bool died;	  /* Its QEMU has ended though nobody asked it to: it was killed, or it crashed. */
};

/*
 * What became of the machine since domain_open(), or NULL when nothing has happened that ends a session. Any thread may call
 * this: domain_open() has started a thread that listens.
 */
const struct domain_event *domain_event(struct domain *d);

/*
 * As domain_event(), but waits for it this long, and asks libvirt, while there is a connection to it. libvirt knows of an end
 * some time after the gdbstub has closed. The domain's own thread.
 */
const struct domain_event *domain_event_within(struct domain *d, uint64_t ns);

struct domain_listed {
	const char *name;
	const char *state;   /* Its state, for the user. */
	const char *why_not; /* Why it cannot be attached to. "": it can. */
};

/* Call `each` for every domain. The strings are valid during that call. Returns 0, or -1 with `err` set. */
int domain_list(const char *uri, void (*each)(void *ctx, const struct domain_listed *domain), void *ctx, struct err *err);

#endif
