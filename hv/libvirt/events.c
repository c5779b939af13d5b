/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens to a domain during a session. The process has one event loop of libvirt's, so its thread is started once and
 * lasts. All that this thread does to a domain is to store a pointer to a constant text.
 *
 * libvirt reports each stop of our own as an event "suspended", too. So that event is not used: the gdbstub tells of a stop
 * that somebody else has made.
 */
#include <signal.h>
#include <string.h>

#include "hv/libvirt/domain.h"
#include "hv/libvirt/internal.h"

static void *run_events(void *arg)
{
	(void)arg;
	while (virEventRunDefaultImpl() == 0)
		;
	return NULL;
}

static void start_loop(void)
{
	sigset_t all, old;
	pthread_t thread;

	if (virEventRegisterDefaultImpl())
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&thread, NULL, run_events, NULL) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

int libvirt_start_events(struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	return pthread_once(&once, start_loop) ? err_set(err, EXIT_INTERNAL, "cannot listen to libvirt's events") : 0;
}

/* Keep the first event. */
static void tell(struct domain *d, const char *what)
{
	const char *none = NULL;

	atomic_compare_exchange_strong(&d->event, &none, what);
}

static int on_lifecycle(virConnectPtr connection, virDomainPtr domain, int event, int detail, void *ctx)
{
	struct domain *d = ctx;

	(void)connection;
	(void)domain;
	if (event == VIR_DOMAIN_EVENT_STOPPED)
		tell(d, detail == VIR_DOMAIN_EVENT_STOPPED_MIGRATED ? "the guest was migrated" : "the guest has ended");
	else if (event == VIR_DOMAIN_EVENT_SHUTDOWN)
		tell(d, "the guest was shut down");
	else if (event == VIR_DOMAIN_EVENT_CRASHED)
		tell(d, "the guest has crashed");
	else if (event == VIR_DOMAIN_EVENT_PMSUSPENDED)
		tell(d, "the guest was suspended");
	else if (event == VIR_DOMAIN_EVENT_SUSPENDED && detail == VIR_DOMAIN_EVENT_SUSPENDED_MIGRATED)
		tell(d, "the guest is being migrated");
	return 0;
}

static void on_reboot(virConnectPtr connection, virDomainPtr domain, void *ctx)
{
	(void)connection;
	(void)domain;
	tell(ctx, "the guest was rebooted");
}

/*
 * This event comes with the first pass over the guest's memory. The memory is still copied for a while, which is time to take
 * the breakpoints out of it.
 */
static void on_migration(virConnectPtr connection, virDomainPtr domain, int pass, void *ctx)
{
	(void)connection;
	(void)domain;
	(void)pass;
	tell(ctx, "the guest is being migrated");
}

void libvirt_listen(struct domain *d)
{
	d->callbacks[0] = virConnectDomainEventRegisterAny(d->connection, d->domain, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
							   VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle), d, NULL);
	d->callbacks[1] = virConnectDomainEventRegisterAny(d->connection, d->domain, VIR_DOMAIN_EVENT_ID_REBOOT,
							   VIR_DOMAIN_EVENT_CALLBACK(on_reboot), d, NULL);
	d->callbacks[2] = virConnectDomainEventRegisterAny(d->connection, d->domain, VIR_DOMAIN_EVENT_ID_MIGRATION_ITERATION,
							   VIR_DOMAIN_EVENT_CALLBACK(on_migration), d, NULL);
	d->callback_count = 3;
}

void libvirt_stop_listening(struct domain *d)
{
	for (unsigned i = 0; i < d->callback_count; i++) {
		if (d->callbacks[i] >= 0)
			virConnectDomainEventDeregisterAny(d->connection, d->callbacks[i]);
	}
	d->callback_count = 0;
}

const char *domain_event(struct domain *d)
{
	return atomic_load(&d->event);
}
