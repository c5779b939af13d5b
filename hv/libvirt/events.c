/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Receives the events of a domain during a session. libvirt has one event loop for a process, so the loop's thread is started
 * once and never ends. That thread changes a struct domain only by storing a pointer to a constant in domain.event.
 *
 * The event "suspended" is ignored, because libvirt sends it also for each stop by outrider. The gdbstub reports a stop by
 * another user.
 */
#include <signal.h>
#include <string.h>
#include <time.h>

#include "hv/base/clock.h"
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

/* All events that end a session. */
static const struct domain_event ended = {.what = "the guest has ended"};
static const struct domain_event died = {.what = "the guest's QEMU died", .died = true};
static const struct domain_event shut_down = {.what = "the guest was shut down"};
static const struct domain_event crashed = {.what = "the guest has crashed"};
static const struct domain_event suspended = {.what = "the guest was suspended"};
static const struct domain_event rebooted = {.what = "the guest was rebooted"};
static const struct domain_event migrating = {.what = "the guest is being migrated"};
static const struct domain_event migrated = {.what = "the guest was migrated"};

/* Store `what` as the event that ends the session, unless an earlier event is stored already. */
static void tell(struct domain *d, const struct domain_event *what)
{
	const struct domain_event *none = NULL;

	atomic_compare_exchange_strong(&d->event, &none, what);
}

/*
 * Returns the event for `detail`, libvirt's reason why the domain stopped (virDomainEventStoppedDetailType).
 * VIR_DOMAIN_EVENT_STOPPED_FAILED means that QEMU was killed or crashed: its monitor closed without a message.
 */
static const struct domain_event *stopped(int detail)
{
	switch (detail) {
	case VIR_DOMAIN_EVENT_STOPPED_FAILED:
		return &died;
	case VIR_DOMAIN_EVENT_STOPPED_CRASHED:
		return &crashed;
	case VIR_DOMAIN_EVENT_STOPPED_MIGRATED:
		return &migrated;
	default:
		return &ended;
	}
}

static int on_lifecycle(virConnectPtr connection, virDomainPtr domain, int event, int detail, void *ctx)
{
	struct domain *d = ctx;

	(void)connection;
	(void)domain;
	if (event == VIR_DOMAIN_EVENT_STOPPED)
		tell(d, stopped(detail));
	else if (event == VIR_DOMAIN_EVENT_SHUTDOWN)
		tell(d, &shut_down);
	else if (event == VIR_DOMAIN_EVENT_CRASHED)
		tell(d, &crashed);
	else if (event == VIR_DOMAIN_EVENT_PMSUSPENDED)
		tell(d, &suspended);
	else if (event == VIR_DOMAIN_EVENT_SUSPENDED && detail == VIR_DOMAIN_EVENT_SUSPENDED_MIGRATED)
		tell(d, &migrating);
	return 0;
}

static void on_reboot(virConnectPtr connection, virDomainPtr domain, void *ctx)
{
	(void)connection;
	(void)domain;
	tell(ctx, &rebooted);
}

/*
 * libvirt calls this at the start of each pass over the guest's memory. The first pass takes a while, and in that time outrider
 * removes the breakpoints, so that they do not migrate.
 */
static void on_migration(virConnectPtr connection, virDomainPtr domain, int pass, void *ctx)
{
	(void)connection;
	(void)domain;
	(void)pass;
	tell(ctx, &migrating);
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

const struct domain_event *domain_event(struct domain *d)
{
	return atomic_load(&d->event);
}

/*
 * Poll the domain's state. An event of the domain's end is queued after the events of all stops by outrider, possibly
 * thousands, but the state changes at once. Polling finds no state of a transient domain, which vanishes with its QEMU.
 */
static void look_at_state(struct domain *d)
{
	int state, reason;

	if (virDomainGetState(d->domain, &state, &reason, 0) < 0 || state != VIR_DOMAIN_SHUTOFF)
		return;
	if (reason == VIR_DOMAIN_SHUTOFF_CRASHED || reason == VIR_DOMAIN_SHUTOFF_FAILED)
		tell(d, &died);
	else
		tell(d, reason == VIR_DOMAIN_SHUTOFF_MIGRATED ? &migrated : &ended);
}

const struct domain_event *domain_event_within(struct domain *d, uint64_t ns)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	uint64_t until = monotonic_ns() + ns;

	look_at_state(d);
	while (!domain_event(d) && monotonic_ns() < until && virConnectIsAlive(d->connection) == 1) {
		nanosleep(&pause, NULL);
		look_at_state(d);
	}
	return domain_event(d);
}
