/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "hv/libvirt/internal.h"

/* Replaces libvirt's own handler, which would print the error to standard error. */
static void say_nothing(void *ctx, virErrorPtr error)
{
	(void)ctx;
	(void)error;
}

/*
 * Whether the error means that this user lacks permission. That includes a failure to ask for it, as on a host without a
 * system bus.
 */
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
	 * Detect a daemon that no longer answers: 3 probes, 5 s apart. This call fails on local connections, which have no
	 * network that could fail.
	 */
	virConnectSetKeepAlive(connection, 5, 3);
	return connection;
}
