/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "hv/libvirt/internal.h"

/* libvirt prints its errors by itself, unless told not to. */
static void say_nothing(void *ctx, virErrorPtr error)
{
	(void)ctx;
	(void)error;
}

static void explain(const char *uri, struct err *err)
{
	virErrorPtr error = virGetLastError();
	const char *where = uri ? uri : "libvirt's default connection";

	switch (error ? error->code : VIR_ERR_INTERNAL_ERROR) {
	case VIR_ERR_AUTH_FAILED:
	case VIR_ERR_AUTH_CANCELLED:
	case VIR_ERR_AUTH_UNAVAILABLE:
	case VIR_ERR_OPERATION_DENIED:
	case VIR_ERR_ACCESS_DENIED:
		err_set(err, EXIT_INPUT, "%s: you may not manage its domains; be root or in the group libvirt", where);
		return;
	case VIR_ERR_SYSTEM_ERROR:
	case VIR_ERR_NO_CONNECT:
	case VIR_ERR_RPC:
		if (error->message && strstr(error->message, "ermission denied"))
			err_set(err, EXIT_INPUT, "%s: you may not manage its domains; be root or in the group libvirt", where);
		else
			err_set(err, EXIT_INPUT, "%s: libvirt does not answer (%s); is libvirtd running?", where,
				error->message);
		return;
	default:
		err_set(err, EXIT_INPUT, "%s: %s", where, error && error->message ? error->message : "libvirt failed");
	}
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
	/* Silence is noticed, too. The default connections have no network that could break, and cannot do this. */
	virConnectSetKeepAlive(connection, 5, 3);
	return connection;
}
