/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the libvirt component share. No other component includes this header. */
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
	pid_t pid;				    /* See domain_pid(). */
	bool stub;				    /* A gdbstub of ours is open. */
	_Atomic(const struct domain_event *) event; /* See domain_event(). The thread that listens sets it, once. */
	int callbacks[4]; /* libvirt's ids of the callbacks that are registered. A negative one was refused. */
	unsigned callback_count;
};

/* ---- connect.c ---- */

/* Connect to libvirt. Returns NULL with `err` set on failure. */
virConnectPtr libvirt_connect(const char *uri, bool writable, struct err *err);

/* ---- check.c ---- */

/*
 * Tell why a domain cannot be attached to: `why` becomes one line for the user, or "" when it can. `writable` says that the
 * connection is. `facts` are filled in too, unless NULL.
 */
void libvirt_check(virDomainPtr domain, bool writable, struct domain_facts *facts, char *why, size_t size);

/* The domain's state, for the user. */
const char *libvirt_state_name(virDomainPtr domain);

/* ---- events.c ---- */

/* Start the thread that runs libvirt's event loop, once for the process. Returns 0, or -1 with `err` set. */
int libvirt_start_events(struct err *err);

/* Listen to the events of a domain, and stop listening. */
void libvirt_listen(struct domain *d);
void libvirt_stop_listening(struct domain *d);

/* ---- stub.c ---- */

/* What gdbstub the domain has. */
enum libvirt_stub {
	LIBVIRT_STUB_NONE,    /* None. */
	LIBVIRT_STUB_LEFT,    /* One that a killed outrider has left behind. */
	LIBVIRT_STUB_BUSY,    /* One that is in use. */
	LIBVIRT_STUB_UNKNOWN, /* libvirt does not let us use QEMU's monitor. */
};
enum libvirt_stub libvirt_look_for_stub(struct domain *d);

#endif
