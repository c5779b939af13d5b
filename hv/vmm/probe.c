/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host self-test: runs its checks (probe_checks.h) on a thread of their own, because KVM_RUN of a broken KVM may hang, and
 * decides from the findings whether this host's KVM can be used.
 */
#include "hv/vmm/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hv/vmm/host.h"
#include "hv/vmm/machine.h"
#include "hv/vmm/probe_checks.h"

#define TICK_MS 50
/* ms until the guest is kicked out of KVM_RUN; all checks together take 1 s to 2 s on a slow emulator */
#define KICK_AFTER_MS 10000
#define GIVE_UP_AFTER_MS 15000 /* ms until the test gives up, after 5 s of ignored kicks */

static const char *const names[PROBE_CHECKS] = {
	[PROBE_OPEN] = "/dev/kvm",
	[PROBE_CAPS] = "capabilities",
	[PROBE_GUEST] = "test guest",
	[PROBE_CLOCK] = "guest's TSC",
	[PROBE_OWN_BP] = "guest's own INT3",
	[PROBE_INT3] = "INT3 intercept",
	[PROBE_EXECUTE] = "execute breakpoint",
	[PROBE_WRITE] = "write watchpoint",
	[PROBE_READWRITE] = "read-write watchpoint",
	[PROBE_FOUR] = "four watchpoints",
	[PROBE_STEP] = "single-step",
	[PROBE_INJECT_BP] = "#BP re-injection",
	[PROBE_INJECT_DB] = "#DB re-injection",
	[PROBE_IDT_GATE] = "INT3 by IDT gate",
};

/* The checks that must pass, whichever way INT3s are caught. */
static const enum probe_id always_needed[] = {
	PROBE_OPEN,  PROBE_CAPS,      PROBE_GUEST, PROBE_CLOCK, PROBE_OWN_BP,	 PROBE_EXECUTE,
	PROBE_WRITE, PROBE_READWRITE, PROBE_FOUR,  PROBE_STEP,	PROBE_INJECT_DB,
};

static void list_caps(struct probing *p)
{
	size_t n;
	const struct host_cap *caps = host_needed_caps(&n);
	const char *missing = NULL;
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	for (size_t i = 0; i < n && i < PROBE_MAX_CAPS; i++) {
		bool present = host_has_cap(fd, caps[i].cap);

		p->out.cap[p->out.caps++] = (struct probe_cap){.name = caps[i].name, .present = present};
		if (!present && !missing)
			missing = caps[i].name;
	}
	p->out.blocks_interrupts = host_blocks_interrupts(fd);
	close(fd);
	if (missing)
		probe_report(p, PROBE_CAPS, false, "%s is missing", missing);
	else
		probe_report(p, PROBE_CAPS, true, "KVM claims to have all %u that outrider needs", p->out.caps);
}

static void *worker(void *arg)
{
	struct probing *p = arg;
	struct vcpu *vcpu = &p->guest.vcpu;
	struct err err = {0};
	sigset_t kick;

	sigemptyset(&kick);
	sigaddset(&kick, vcpu_kick_signal());
	pthread_sigmask(SIG_UNBLOCK, &kick, NULL);

	list_caps(p);
	if (probe_guest_create(&p->guest, &err) < 0) {
		probe_report(p, PROBE_OPEN, false, "%s", err.text);
		goto out;
	}
	probe_report(p, PROBE_OPEN, true, "opens, and makes a VM");
	kick_attach(vcpu);
	atomic_store(&vcpu->tid, (int)syscall(SYS_gettid));
	probe_run_checks(p);
	atomic_store(&vcpu->tid, 0);
	kick_attach(NULL);
out:
	probe_guest_destroy(&p->guest);
	return NULL;
}

/* Wait for the thread that runs the checks. Returns false if the thread hangs in the host's kernel. */
static bool wait_for(pthread_t thread, struct probing *p)
{
	for (unsigned waited = 0; waited < GIVE_UP_AFTER_MS; waited += TICK_MS) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += TICK_MS * 1000000l;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_timedjoin_np(thread, NULL, &until) == 0)
			return true;
		if (waited >= KICK_AFTER_MS)
			vcpu_kick(&p->guest.vcpu);
	}
	return false;
}

static enum probe_breakpoints choose(const struct host_probe *out)
{
	if (out->check[PROBE_INT3].works && out->check[PROBE_INJECT_BP].works)
		return BP_INTERCEPT;
	return out->check[PROBE_IDT_GATE].works ? BP_IDT_GATE : BP_NONE;
}

#define ELSEWHERE "use a host with VT-x or AMD-V, or a lab host"

static void write_verdict(struct host_probe *out, const struct probe_check *failed, bool stuck)
{
	if (stuck)
		strcpy(out->verdict, "this host's KVM hangs and ignores signals; " ELSEWHERE);
	else if (failed == &out->check[PROBE_OPEN]) /* its finding already says what to do */
		snprintf(out->verdict, sizeof(out->verdict), "%s", failed->finding);
	else if (failed == &out->check[PROBE_CLOCK]) /* its finding says what to do, too */
		snprintf(out->verdict, sizeof(out->verdict), "this host's KVM cannot run outrider's guests: the guest's TSC %s",
			 failed->finding);
	else if (failed)
		snprintf(out->verdict, sizeof(out->verdict), "this host's KVM cannot run outrider's guests: %s: %s; " ELSEWHERE,
			 failed->name, failed->finding);
	else if (out->breakpoints == BP_INTERCEPT)
		strcpy(out->verdict, "KVM works here; breakpoints by #BP intercept");
	else
		strcpy(out->verdict, "KVM works here; its #BP intercept does not, so outrider stops CPUs at the guest's #BP "
				     "handler (IDT gate)");
}

static void judge(struct host_probe *out, bool stuck)
{
	const struct probe_check *failed = NULL;

	out->breakpoints = choose(out);
	for (size_t i = 0; i < sizeof(always_needed) / sizeof(always_needed[0]); i++)
		out->check[always_needed[i]].needed = true;
	out->check[PROBE_INT3].needed = out->check[PROBE_INJECT_BP].needed = out->breakpoints != BP_IDT_GATE;
	out->check[PROBE_IDT_GATE].needed = out->breakpoints != BP_INTERCEPT;
	for (unsigned i = 0; i < PROBE_CHECKS; i++) {
		struct probe_check *c = &out->check[i];

		c->name = names[i];
		if (!c->tried)
			strcpy(c->finding, "not tried");
		if (c->needed && !c->works && !failed)
			failed = c;
	}
	out->usable = !failed && !stuck;
	write_verdict(out, failed, stuck);
}

int probe_host(struct host_probe *out, struct err *err)
{
	struct probing *p = calloc(1, sizeof(*p));
	pthread_t thread;
	bool stuck;
	int error, rc = -1;

	if (!p)
		return err_set(err, EXIT_INTERNAL, "out of memory for the host self-test");
	p->guest = (struct probe_guest)PROBE_GUEST_NONE;
	pthread_mutex_init(&p->lock, NULL);
	if (kick_setup(err) < 0)
		goto out;
	error = pthread_create(&thread, NULL, worker, p);
	if (error) {
		err_set(err, EXIT_INTERNAL, "cannot start the host self-test: %s", strerror(error));
		goto out;
	}
	stuck = !wait_for(thread, p);
	pthread_mutex_lock(&p->lock);
	*out = p->out;
	pthread_mutex_unlock(&p->lock);
	judge(out, stuck);
	if (stuck) {
		pthread_detach(thread); /* do not free `p`: the thread still uses it if KVM_RUN ever returns */
		return 0;
	}
	rc = 0;
out:
	pthread_mutex_destroy(&p->lock);
	free(p);
	return rc;
}
