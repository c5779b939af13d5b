// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider run`: options, host, machine, detector and report put together, and taken apart in the opposite order. */
#include "hv/cli/cli.h"
#include "hv/cli/run_options.h"
#include "hv/cli/session.h"
#include "hv/cli/stopper.h"
#include "hv/vmm/probe.h"

static int check_host(struct session *s, struct err *err)
{
	struct host_probe probe;

	if (probe_host(&probe, err) < 0)
		return -1;
	if (!probe.usable || probe.breakpoints == BP_NONE)
		return err_set(err, EXIT_INPUT, "%s; `outrider doctor` tells more", probe.verdict);
	s->breakpoints = probe.breakpoints == BP_INTERCEPT ? KVM_BP_INTERCEPT : KVM_BP_IDT_GATE;
	return 0;
}

/* How the guest ended, as an error if it died. */
static void judge_end(const struct session *s, enum stop_reason stopped, struct err *err)
{
	const char *panic = console_panic(s->console);

	switch (s->end) {
	case VM_END_TRIPLE_FAULT:
	case VM_END_INTERNAL:
	case VM_END_PANIC:
		err_set(err, EXIT_GUEST, "the guest died: %s", vm_end_detail(s->vm));
		return;
	case VM_END_REBOOT:
		if (panic)
			err_set(err, EXIT_GUEST, "the guest's kernel panicked and rebooted: %s", panic);
		return;
	case VM_END_STOPPED:
		if (stopped == STOP_PANIC)
			err_set(err, EXIT_GUEST, "the guest's kernel panicked: %s", panic);
		return;
	case VM_END_POWEROFF:
		return;
	}
}

/* The word of the summary. */
static const char *end_word(const struct session *s, enum stop_reason stopped, const struct err *err)
{
	if (err->code == EXIT_GUEST)
		return "guest died";
	if (err->code != EXIT_OK)
		return "failed";
	if (stopped == STOP_SIGNAL)
		return "stopped by a signal";
	if (stopped == STOP_DURATION)
		return "duration over";
	return s->end == VM_END_REBOOT ? "guest rebooted" : "guest powered off";
}

static void run_machine(struct session *s, struct err *err)
{
	const struct stopper_config config = {
		s->vm, s->console, s->screen, &s->terminal, s->options->duration_ns, session_elapsed_ns, s};
	struct stopper *stopper = stopper_start(&config, err);
	enum stop_reason stopped;

	if (!stopper)
		return;
	if (session_start_detector(s, err) == 0)
		vm_run(s->vm, session_hooks(s), &s->end, err);
	session_stop_detector(s, err);
	stopped = stopper_finish(stopper);
	if (err->code == EXIT_OK)
		judge_end(s, stopped, err);
	session_summary(s, end_word(s, stopped, err), err);
}

int cli_run(int argc, char **argv)
{
	struct err err = {0};
	struct run_options options;
	struct session session;

	if (run_options_parse(&options, argc, argv, &err) < 0)
		return cli_fail(&err);
	session_init(&session, &options);
	stopper_block_signals();
	if (check_host(&session, &err) == 0 && session_open(&session, &err) == 0)
		run_machine(&session, &err);
	session_close(&session, &err);
	return err.code == EXIT_OK || session.said ? (int)err.code : cli_fail(&err);
}
