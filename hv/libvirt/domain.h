/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists the domains of libvirt's QEMU driver, checks whether outrider can attach to a domain, and opens a private gdbstub on a
 * domain. QEMU's monitor opens the gdbstub on a socketpair, so that no other process can connect to it by a path, and closes
 * the gdbstub afterwards.
 *
 * A struct domain belongs to one thread, except for domain_event(). Every error message says what the user can do.
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
 * Find a domain by its name, UUID or ID. `uri` NULL: libvirt's default. Returns NULL with `err` set on failure, for example
 * when outrider cannot attach to the domain.
 */
struct domain *domain_open(const char *uri, const char *name, struct err *err);

/* Close the gdbstub if it is open, and free `d`. The domain itself keeps running. `d` may be NULL. */
void domain_free(struct domain *d);

const struct domain_facts *domain_facts(const struct domain *d);

/* Returns the process ID of the domain's QEMU on this host, or 0 when it is unknown. */
pid_t domain_pid(const struct domain *d);

/*
 * Open a gdbstub, which stops the machine. If a killed outrider left a gdbstub open, close that gdbstub first and set *leftover
 * to true; otherwise *leftover is unchanged. Returns the descriptor, which the caller owns, or -1 with `err` set.
 */
int domain_open_stub(struct domain *d, bool *leftover, struct err *err);

/* Close the gdbstub, even if libvirtd was restarted meanwhile. Returns 0, or -1 with `err` set. */
int domain_close_stub(struct domain *d, struct err *err);

/* Make domain_free() leave the gdbstub open, because another process will close it. */
void domain_leave_stub(struct domain *d);

/* Close the gdbstub that another process opened on a domain and can no longer close. */
void domain_drop_stub(const char *uri, const char *name);

/* An event that ends a session. The structs are constants. */
struct domain_event {
	const char *what; /* A few words for the user. */
	bool died;	  /* The domain's QEMU was killed or crashed. */
};

/*
 * Returns the first event since domain_open() that ends a session, or NULL if there was none. A thread that domain_open()
 * started receives the events. Any thread may call this.
 */
const struct domain_event *domain_event(struct domain *d);

/*
 * As domain_event(), but waits up to `ns` nanoseconds for an event, and polls the domain's state meanwhile, because libvirt
 * reports the end of a machine some time after its gdbstub has closed. Does not wait if the connection to libvirt is lost. To
 * be called on the domain's own thread.
 */
const struct domain_event *domain_event_within(struct domain *d, uint64_t ns);

struct domain_listed {
	const char *name;
	const char *state;   /* The domain's state, for the user. */
	const char *why_not; /* Why outrider cannot attach to the domain. "": it can. */
};

/* Call `each` for every domain. The strings are valid during the call. Returns 0, or -1 with `err` set. */
int domain_list(const char *uri, void (*each)(void *ctx, const struct domain_listed *domain), void *ctx, struct err *err);

#endif
