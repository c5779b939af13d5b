/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the domains of libvirt, each with its state and whether outrider can attach to it. */
#include <stdlib.h>

#include "hv/libvirt/domain.h"
#include "hv/libvirt/internal.h"

int domain_list(const char *uri, void (*each)(void *ctx, const struct domain_listed *domain), void *ctx, struct err *err)
{
	virConnectPtr connection = libvirt_connect(uri, true, NULL);
	bool writable = connection;
	virDomainPtr *list = NULL;
	int n;

	if (!connection)
		connection = libvirt_connect(uri, false, err);
	if (!connection)
		return -1;
	n = virConnectListAllDomains(connection, &list, 0);
	for (int i = 0; i < n; i++) {
		struct domain_listed listed = {.name = virDomainGetName(list[i]), .state = libvirt_state_name(list[i])};
		char why[128];

		libvirt_check(list[i], writable, NULL, why, sizeof(why));
		listed.why_not = why;
		each(ctx, &listed);
		virDomainFree(list[i]);
	}
	free(list);
	virConnectClose(connection);
	return n < 0 ? err_set(err, EXIT_INPUT, "libvirt does not list its domains: %s", virGetLastErrorMessage()) : 0;
}
