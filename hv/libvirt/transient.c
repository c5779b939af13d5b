// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/libvirt/transient.h"

#include <stdlib.h>

#include "hv/libvirt/internal.h"

struct domain_transient {
	virConnectPtr connection;
	virDomainPtr domain;
};

struct domain_transient *domain_transient_start(const char *uri, const char *xml, struct err *err)
{
	struct domain_transient *t = calloc(1, sizeof(*t));

	if (!t) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	t->connection = libvirt_connect(uri, true, err);
	if (t->connection)
		t->domain = virDomainCreateXML(t->connection, xml, VIR_DOMAIN_START_AUTODESTROY);
	if (t->domain)
		return t;
	err_set(err, EXIT_INPUT, "cannot start the domain of the run: %s", virGetLastErrorMessage());
	domain_transient_end(t);
	return NULL;
}

void domain_transient_end(struct domain_transient *t)
{
	if (!t)
		return;
	if (t->domain) {
		virDomainDestroy(t->domain);
		virDomainFree(t->domain);
	}
	if (t->connection)
		virConnectClose(t->connection);
	free(t);
}
