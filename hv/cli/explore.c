// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider explore`: forces interleavings of two programs in copies of a guest. */
#include <stdio.h>

#include "hv/cli/cli.h"
#include "hv/cli/explore_options.h"
#include "hv/cli/explore_save.h"
#include "hv/cli/explore_show.h"
#include "hv/cli/output.h"
#include "hv/sandbox/sandbox.h"
#include "hv/vmm/probe.h"

/* Exit code if a forced schedule did harm. */
#define EXIT_FOUND 1

static void say(void *ctx, const char *line)
{
	(void)ctx;
	cli_message(line);
}

/* The trials that the file of --skip lists, which are left out, and the path of this file. */
struct skipping {
	const char *path;
	struct explore_skip skip;
};

static int check_host(struct err *err)
{
	struct host_probe probe;

	if (probe_host(&probe, err) < 0)
		return -1;
	if (!probe.usable)
		return err_set(err, EXIT_INPUT, "%s; `outrider doctor` tells more", probe.verdict);
	if (!probe.blocks_interrupts)
		return err_set(err, EXIT_INPUT,
			       "this host's KVM does not keep interrupts away from single steps; use a host with Linux 5.16 or "
			       "newer");
	return 0;
}

/*
 * Prepare the sandbox, before any file is opened: sandbox_prepare() takes every open descriptor for an inherited one, and the
 * inherited ones are closed.
 */
static int prepare_sandbox(const struct explore_options *o, struct err *err)
{
	char line[SANDBOX_MISSING_MAX];

	if (!o->no_sandbox && sandbox_prepare(NULL, NULL, err) < 0)
		return -1;
	if (o->quiet)
		return 0;
	if (o->no_sandbox || !sandbox_available(NULL, 0))
		cli_message("outrider is not confined: do not explore a guest that you do not trust");
	else if (sandbox_missing(line))
		cli_message(line);
	return 0;
}

static int show(const struct explore_options *o, const struct explore_result *r, struct err *err)
{
	if (o->json)
		return explore_show_json(&o->config, r, err);
	explore_show(&o->config, r);
	return 0;
}

/* Read the file of --skip. If root runs the process for a user who called sudo(8), read it as that user. */
static int read_skip(void *ctx, struct err *err)
{
	struct skipping *s = ctx;

	return explore_skip_read(&s->skip, s->path, err);
}

static int explore(struct explore_options *o, struct explore_result *result, struct err *err)
{
	struct explore_save save = {0};
	struct skipping skipping = {.path = o->skip};
	int rc = -1;

	if (prepare_sandbox(o, err) < 0 || vmm_check_files(&o->config.vm, err) < 0 || check_host(err) < 0)
		return -1;
	if (o->save && explore_save_open(&save, o->save, err) < 0)
		goto out;
	if (o->skip && sandbox_as_user(read_skip, &skipping, err) < 0)
		goto out;
	o->config.skip = o->skip ? &skipping.skip : NULL;
	o->config.saver = o->save ? &save.saver : NULL;
	o->config.folder = o->save;
	if (explore_run(&o->config, result, err) == 0)
		rc = show(o, result, err);
out:
	explore_skip_free(&skipping.skip);
	explore_save_close(&save);
	return rc;
}

int cli_explore(int argc, char **argv)
{
	struct explore_options o;
	struct explore_result result = EXPLORE_NOTHING;
	struct err err = {0};
	int code = EXIT_OK;

	if (explore_options_parse(&o, argc, argv, &err) < 0)
		return cli_fail(&err);
	if (!o.quiet)
		o.config.message = say;
	explore(&o, &result, &err);
	sandbox_finish();
	if (err.code != EXIT_OK)
		code = cli_fail(&err);
	else if (explore_result_is_found(&result))
		code = EXIT_FOUND;
	explore_free(&result);
	return output_end(code);
}
