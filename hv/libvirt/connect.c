/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "hv/libvirt/internal.h"

/* Without this handler libvirt prints its errors itself. */
static void say_nothing(void *ctx, virErrorPtr error)
{
	(void)ctx;
	(void)error;
}

/* Whether this user lacks the right. That counts also where the right could not be asked for, as without a system bus. */
static bool may_not(const virError *error)
{
	switch (error->code) {
	case VIR_ERR_AUTH_FAILED:
	case VIR_ERR_AUTH_CANCELLED:
	case VIR_ERR_AUTH_UNAVAILABLE:
	case VIR_ERR_OPERATION_DENIED:
	case VIR_ERR_ACCESS_DENIED:
		return true;
	default:
		return error->message && (strstr(error->message, "ermission denied") || strstr(error->message, "system bus"));
	}
}

static void explain(const char *uri, struct err *err)
{
	const virError *error = virGetLastError();
	const char *where = uri ? uri : "libvirt's default connection";
	const char *message = error && error->message ? error->message : "libvirt failed";

	if (error && may_not(error))
		err_set(err, EXIT_INPUT, "%s: you may not manage its domains; be root or in the group libvirt", where);
	else if (error &&
		 (error->code == VIR_ERR_SYSTEM_ERROR || error->code == VIR_ERR_NO_CONNECT || error->code == VIR_ERR_RPC))
		err_set(err, EXIT_INPUT, "%s: libvirt does not answer (%s); is libvirtd running?", where, message);
	else
		err_set(err, EXIT_INPUT, "%s: %s", where, message);
}

virConnectPtr libvirt_connect(const char *uri, bool writable, struct err *err)
{
	virConnectPtr connection;

	virSetErrorFunc(NULL, say_nothing);
	connection = writable ? virConnectOpen(uri) : virConnectOpenReadOnly(uri);
	if (!connection) {
		explain(uri, err);
		return NULL;
	}
	/*
	 * With this, a daemon that no longer answers is noticed, too. It fails on the default connections, which have no
	 * network that could break.
	 */
	virConnectSetKeepAlive(connection, 5, 3);
	return connection;
}
