/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct domain, a libvirt domain to which outrider attaches (domain.h), and the functions that the files of hv/libvirt share.
 */
#ifndef OUTRIDER_LIBVIRT_INTERNAL_H
#define OUTRIDER_LIBVIRT_INTERNAL_H

#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "hv/base/err.h"
#include "hv/libvirt/facts.h"

struct domain_event;

struct domain {
	char *uri; /* NULL: libvirt's default. */
	virConnectPtr connection;
	virDomainPtr domain;
	struct domain_facts facts;
	pid_t pid; /* See domain_pid(). */
	bool stub; /* A gdbstub of this process is open. */
	/*
	 * The first event that ends a session (domain_event()); NULL: none yet. Set once, by the thread that receives events.
	 */
	_Atomic(const struct domain_event *) event;
	int callbacks[4]; /* libvirt's IDs of the registered callbacks. Negative: libvirt refused the callback. */
	unsigned callback_count;
};

/* ---- connect.c ---- */

/* Connect to libvirt. Returns NULL with `err` set on failure. */
virConnectPtr libvirt_connect(const char *uri, bool writable, struct err *err);

/* ---- check.c ---- */

/*
 * Check whether outrider can attach to a domain. If it cannot, write into `why` one line for the user that says why; otherwise
 * write "". `writable` says that the connection is not read-only. Also fills in `facts`, unless `facts` is NULL.
 */
void libvirt_check(virDomainPtr domain, bool writable, struct domain_facts *facts, char *why, size_t size);

/* Returns a word for the domain's state, for the user. */
const char *libvirt_state_name(virDomainPtr domain);

/* ---- events.c ---- */

/* Start the thread that runs libvirt's event loop, once for the process. Returns 0, or -1 with `err` set. */
int libvirt_start_events(struct err *err);

/* libvirt_listen() registers the callbacks for the events of a domain, and libvirt_stop_listening() deregisters them. */
void libvirt_listen(struct domain *d);
void libvirt_stop_listening(struct domain *d);

/* ---- stub.c ---- */

/* The state of the domain's gdbstub. libvirt_look_for_stub() takes up to 10 s to tell _OURS from _LEFT. */
enum libvirt_stub {
	LIBVIRT_STUB_NONE,    /* The domain has no gdbstub. */
	LIBVIRT_STUB_LEFT,    /* A killed outrider left it open. */
	LIBVIRT_STUB_OURS,    /* An outrider uses it. */
	LIBVIRT_STUB_BUSY,    /* Another debugger uses it. */
	LIBVIRT_STUB_UNKNOWN, /* libvirt does not permit the use of QEMU's monitor. */
};
enum libvirt_stub libvirt_look_for_stub(struct domain *d);

#endif
