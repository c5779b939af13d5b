/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of the libvirt component only. */
#ifndef OUTRIDER_LIBVIRT_INTERNAL_H
#define OUTRIDER_LIBVIRT_INTERNAL_H

#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <pthread.h>
#include <stdatomic.h>

#include "hv/libvirt/domain.h"

struct domain {
	char *uri; /* NULL: the default */
	virConnectPtr connection;
	virDomainPtr domain;
	struct domain_facts facts;
	pid_t pid;
	bool stub;
	_Atomic(const char *) event;
	int callbacks[4];
	unsigned callback_count;
};

/* connect.c: NULL: see err. */
virConnectPtr libvirt_connect(const char *uri, bool writable, struct err *err);

/* check.c: why a domain cannot be attached to, into `why` ("": it can); its facts, if wanted. */
void libvirt_check(virDomainPtr domain, bool writable, struct domain_facts *facts, char *why, size_t size);
const char *libvirt_state_name(virDomainPtr domain);

/* events.c */
int libvirt_start_events(struct err *err);
void libvirt_listen(struct domain *d);
void libvirt_stop_listening(struct domain *d);

#endif
