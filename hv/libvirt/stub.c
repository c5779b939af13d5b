/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens and closes a gdbstub on a domain, through QEMU's monitor. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "hv/libvirt/domain.h"
#include "hv/libvirt/internal.h"

#define STUB "outrider-gdb" /* The name of outrider's character device in QEMU. */
#define RETRIES 20	    /* Number of attempts to connect again, 500 ms apart: libvirtd may be restarting. */
#define CLOSED_BY 100	    /* Number of checks, 100 ms apart, before a gdbstub of outrider's counts as in use. */

/* ---- QEMU's monitor ---- */

/*
 * Run a QMP command, and pass the descriptor `fd` along unless it is negative. Returns 0, or -1 with QEMU's error message in
 * `why`.
 */
static int qmp(struct domain *d, const char *command, int fd, char *why, size_t size)
{
	char *reply = NULL;
	json_t *root, *error;
	int ret;

	if (fd >= 0)
		ret = virDomainQemuMonitorCommandWithFiles(d->domain, command, 1, &fd, NULL, NULL, &reply, 0);
	else
		ret = virDomainQemuMonitorCommand(d->domain, command, &reply, 0);
	snprintf(why, size, "%s", ret ? virGetLastErrorMessage() : "");
	root = reply ? json_loads(reply, 0, NULL) : NULL;
	error = json_object_get(root, "error");
	if (error) {
		snprintf(why, size, "%s", json_string_value(json_object_get(error, "desc")));
		ret = -1;
	}
	json_decref(root);
	free(reply);
	return ret ? -1 : 0;
}

/* Run a command of the human monitor. Returns its output, which the caller frees, or NULL when libvirt refuses. */
static char *hmp(struct domain *d, const char *command)
{
	char *reply = NULL;

	if (virDomainQemuMonitorCommand(d->domain, command, &reply, VIR_DOMAIN_QEMU_MONITOR_COMMAND_HMP)) {
		free(reply);
		return NULL;
	}
	return reply;
}

/* ---- the stub ---- */

/*
 * The monitor's command "info chardev" lists the character devices of QEMU, one a line: "NAME: filename=WHAT". For a socket
 * whose other end is closed, WHAT begins with "disconnected". So a gdbstub that a killed outrider left open can be
 * distinguished from a gdbstub in use.
 */
static enum libvirt_stub look(struct domain *d)
{
	char *list = hmp(d, "info chardev");
	const char *ours = list ? strstr(list, STUB ": filename=") : NULL;
	enum libvirt_stub state = list ? LIBVIRT_STUB_NONE : LIBVIRT_STUB_UNKNOWN;

	if (ours)
		state = strncmp(ours + strlen(STUB ": filename="), "disconnected", 12) == 0 ? LIBVIRT_STUB_LEFT
											    : LIBVIRT_STUB_OURS;
	else if (list && (strncmp(list, "gdb: ", 5) == 0 || strstr(list, "\ngdb: ")))
		state = LIBVIRT_STUB_BUSY;
	free(list);
	return state;
}

/*
 * A gdbstub of outrider's can look in use for a moment after an outrider and its guard were killed, until the kernel has closed
 * their sockets and QEMU has noticed. So wait for that, but at most 10 s, because another outrider may really be attached.
 */
enum libvirt_stub libvirt_look_for_stub(struct domain *d)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	enum libvirt_stub state = look(d);

	for (unsigned i = 0; state == LIBVIRT_STUB_OURS && i < CLOSED_BY; i++) {
		nanosleep(&pause, NULL);
		state = look(d);
	}
	return state;
}

static void drop_stub(struct domain *d)
{
	char why[256];

	free(hmp(d, "gdbserver none"));
	/* This fails if a gdbstub used the character device, because QEMU then removed the device together with the gdbstub. */
	qmp(d, "{\"execute\":\"chardev-remove\",\"arguments\":{\"id\":\"" STUB "\"}}", -1, why, sizeof(why));
}

/* Pass `fd`, one end of a socketpair, to QEMU, and make QEMU open a gdbstub on it. */
static int add_stub(struct domain *d, int fd, struct err *err)
{
	static const char getfd[] = "{\"execute\":\"getfd\",\"arguments\":{\"fdname\":\"" STUB "\"}}";
	static const char add[] =
		"{\"execute\":\"chardev-add\",\"arguments\":{\"id\":\"" STUB "\",\"backend\":{\"type\":\"socket\","
		"\"data\":{\"addr\":{\"type\":\"fd\",\"data\":{\"str\":\"" STUB "\"}},\"server\":false}}}}";
	char why[256];
	char *said;

	if (qmp(d, getfd, fd, why, sizeof(why)) || qmp(d, add, -1, why, sizeof(why)))
		return err_set(err, EXIT_INPUT, "%s: cannot open a gdbstub: %s (libvirt 8.2 or newer on this host is needed)",
			       d->facts.name, why);
	said = hmp(d, "gdbserver chardev:" STUB);
	if (said && strstr(said, "Waiting for gdb connection")) {
		free(said);
		return 0;
	}
	err_set(err, EXIT_INPUT, "%s: cannot open a gdbstub: %s", d->facts.name, said ? said : virGetLastErrorMessage());
	free(said);
	drop_stub(d);
	return -1;
}

int domain_open_stub(struct domain *d, bool *leftover, struct err *err)
{
	enum libvirt_stub state = libvirt_look_for_stub(d);
	int fds[2];

	*leftover |= state == LIBVIRT_STUB_LEFT;
	if (state == LIBVIRT_STUB_UNKNOWN)
		return err_set(err, EXIT_INPUT, "%s: libvirt does not let you use QEMU's monitor: %s", d->facts.name,
			       virGetLastErrorMessage());
	if (state == LIBVIRT_STUB_OURS)
		return err_set(err, EXIT_INPUT, "%s: another outrider is attached", d->facts.name);
	if (state == LIBVIRT_STUB_BUSY)
		return err_set(err, EXIT_INPUT, "%s: its gdbstub is in use: end the other debugger first", d->facts.name);
	if (state == LIBVIRT_STUB_LEFT)
		drop_stub(d);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return err_set(err, EXIT_INTERNAL, "socketpair: %s", strerror(errno));
	if (add_stub(d, fds[1], err)) {
		close(fds[0]);
		fds[0] = -1;
	}
	d->stub = fds[0] >= 0;
	close(fds[1]);
	return fds[0];
}

/*
 * Connect to libvirt again if the connection was lost, as when libvirtd was restarted. Returns true if there is a connection.
 */
static bool reconnect(struct domain *d)
{
	const struct timespec pause = {.tv_nsec = 500000000};

	for (unsigned i = 0; i < RETRIES; i++) {
		virConnectPtr connection;
		virDomainPtr domain;

		if (virConnectIsAlive(d->connection) == 1 && virDomainIsActive(d->domain) >= 0)
			return true;
		connection = libvirt_connect(d->uri, true, NULL);
		domain = connection ? virDomainLookupByName(connection, d->facts.name) : NULL;
		if (domain) {
			libvirt_stop_listening(d);
			virDomainFree(d->domain);
			virConnectClose(d->connection);
			d->connection = connection;
			d->domain = domain;
			return true;
		}
		if (connection)
			virConnectClose(connection);
		nanosleep(&pause, NULL);
	}
	return false;
}

int domain_close_stub(struct domain *d, struct err *err)
{
	if (!d->stub)
		return 0;
	d->stub = false;
	if (!reconnect(d))
		return err_set(err, EXIT_INPUT,
			       "%s: libvirt has gone, so the gdbstub is still open; the next `outrider attach` to the domain "
			       "closes it",
			       d->facts.name);
	if (virDomainIsActive(d->domain) == 1)
		drop_stub(d);
	return 0;
}

void domain_leave_stub(struct domain *d)
{
	d->stub = false;
}

void domain_drop_stub(const char *uri, const char *name)
{
	struct domain d = {.connection = libvirt_connect(uri, true, NULL)};

	d.domain = d.connection ? virDomainLookupByName(d.connection, name) : NULL;
	if (d.domain) {
		drop_stub(&d);
		virDomainFree(d.domain);
	}
	if (d.connection)
		virConnectClose(d.connection);
}
