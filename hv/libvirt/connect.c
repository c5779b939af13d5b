/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connects to libvirt's daemon, and turns libvirt's errors into messages that say what the user can do. */
#include <string.h>

#include "hv/libvirt/internal.h"

/* Drops libvirt's errors. Installed in place of libvirt's own handler, which prints them to standard error. */
static void say_nothing(void *ctx, virErrorPtr error)
{
	(void)ctx;
	(void)error;
}

/*
 * Returns true if the error means that this user lacks permission. This includes a failure to ask for permission, as on a host
 * without a system bus.
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
		err_set(err, EXIT_INPUT, "%s: you may not manage its domains; become root, or join the group libvirt", where);
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
	 * Close the connection when the daemon no longer answers: after 3 probes, 5 s apart. The call fails on a local
	 * connection. Such a connection needs no probes, because the kernel closes it when the daemon ends.
	 */
	virConnectSetKeepAlive(connection, 5, 3);
	return connection;
}
