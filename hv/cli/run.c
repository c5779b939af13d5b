// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider run`: boots a virtual machine on this host's KVM, and looks for races in it. */
#include "hv/cli/cli.h"
#include "hv/cli/run_options.h"
#include "hv/session/session.h"
#include "hv/session/vm_engine.h"
#include "hv/vmm/probe.h"
#include "hv/vmm/vmm.h"

static int check_host(bool replay, enum kvm_bp_method *breakpoints, struct err *err)
{
	struct host_probe probe;

	if (probe_host(&probe, err) < 0)
		return -1;
	if (!probe.usable || probe.breakpoints == BP_NONE)
		return err_set(err, EXIT_INPUT, "%s; `outrider doctor` tells more", probe.verdict);
	if (replay && !probe.blocks_interrupts)
		return err_set(
			err, EXIT_INPUT,
			"--replay: this host's KVM does not keep interrupts away from single steps; use a host with Linux "
			"5.16 or newer, or leave --replay out");
	*breakpoints = probe.breakpoints == BP_INTERCEPT ? KVM_BP_INTERCEPT : KVM_BP_IDT_GATE;
	return 0;
}

int cli_run(int argc, char **argv)
{
	struct err err = {0};
	struct run_options options;
	struct vm_engine engine;
	int code = EXIT_OK;

	if (run_options_parse(&options, argc, argv, &err) < 0)
		goto out;
	if (vmm_check_files(&options.engine.vm, &err) < 0 ||
	    check_host(options.detect.session.replay, &options.engine.breakpoints, &err) < 0)
		goto out;
	vm_engine_init(&engine, &options.engine);
	code = session_run(&engine.engine, &options.detect.session, &err);
out:
	code = judge_code(&options.detect.judge, code, &err);
	run_options_free(&options);
	return code;
}
