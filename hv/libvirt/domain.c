/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a libvirt domain for a session: connects to libvirt, finds the domain by name, checks that outrider can attach to it,
 * and has its events reported until domain_free().
 */
#include "hv/libvirt/domain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/libvirt/internal.h"

/*
 * Read the process ID of the domain's QEMU from the file that the system's libvirt daemon wrote or, if there is none, from that
 * of the user's daemon. Returns 0 if neither file exists.
 */
static pid_t read_pid(const char *name)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char path[1024];
	FILE *file;
	int pid = 0;

	snprintf(path, sizeof(path), "/run/libvirt/qemu/%s.pid", name);
	file = fopen(path, "re");
	if (!file && runtime) {
		snprintf(path, sizeof(path), "%s/libvirt/qemu/run/%s.pid", runtime, name);
		file = fopen(path, "re");
	}
	if (!file)
		return 0;
	if (fscanf(file, "%d", &pid) != 1)
		pid = 0;
	fclose(file);
	return pid;
}

/* Look a domain up by its name, UUID or ID. */
static virDomainPtr look_up(virConnectPtr connection, const char *name)
{
	virDomainPtr domain = virDomainLookupByName(connection, name);
	char *end;
	long id;

	if (!domain)
		domain = virDomainLookupByUUIDString(connection, name);
	id = strtol(name, &end, 10);
	if (!domain && end != name && !*end && id >= 0 && id <= INT32_MAX)
		domain = virDomainLookupByID(connection, (int)id);
	return domain;
}

static int find_domain(struct domain *d, const char *name, struct err *err)
{
	char why[128];

	d->connection = libvirt_connect(d->uri, true, err);
	if (!d->connection)
		return -1;
	d->domain = look_up(d->connection, name);
	if (!d->domain)
		return err_set(err, EXIT_INPUT, "there is no domain '%s'; `outrider list` shows the domains of this host",
			       name);
	libvirt_check(d->domain, true, &d->facts, why, sizeof(why));
	/*
	 * A reason in `why` does not matter if a killed outrider left its gdbstub open: that gdbstub can have stopped the
	 * domain (then `why` says that the domain is paused), and attaching makes the domain run again.
	 */
	if (why[0] && libvirt_look_for_stub(d) != LIBVIRT_STUB_LEFT)
		return err_set(err, EXIT_INPUT, "%s: %s", d->facts.name[0] ? d->facts.name : name, why);
	d->pid = read_pid(d->facts.name);
	return 0;
}

struct domain *domain_open(const char *uri, const char *name, struct err *err)
{
	struct domain *d = calloc(1, sizeof(*d));

	if (!d || (uri && !(d->uri = strdup(uri)))) {
		free(d);
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	if (libvirt_start_events(err) || find_domain(d, name, err)) {
		domain_free(d);
		return NULL;
	}
	libvirt_listen(d);
	return d;
}

void domain_free(struct domain *d)
{
	if (!d)
		return;
	domain_close_stub(d, NULL);
	if (d->connection)
		libvirt_stop_listening(d);
	if (d->domain)
		virDomainFree(d->domain);
	if (d->connection)
		virConnectClose(d->connection);
	free(d->uri);
	free(d);
}

const struct domain_facts *domain_facts(const struct domain *d)
{
	return &d->facts;
}

pid_t domain_pid(const struct domain *d)
{
	return d->pid;
}
