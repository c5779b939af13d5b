// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs both orders of a race on copies of the machine. */
#include "hv/replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hv/replay/holder.h"
#include "hv/replay/process.h"

/*
 * Time limit for the end of a process: 60 s. A process frees a machine's memory when it ends, which takes a small part of this
 * time.
 */
#define END_MILLISECONDS 60000

/* The child writes its result by one write(), without waiting for the reader. */
_Static_assert(sizeof(struct replay_instance) <= PIPE_BUF, "a result must fit into an empty pipe");
_Static_assert(sizeof(struct section_replay_instance) <= PIPE_BUF, "a result must fit into an empty pipe");

static void close_both(const int ends[2])
{
	for (unsigned i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

static int open_pipes(int result[2], int go[2], struct err *err)
{
	if (pipe2(result, O_CLOEXEC) == 0 && pipe2(go, O_CLOEXEC) == 0)
		return 0;
	return err_set(err, EXIT_INTERNAL, "replay: pipe: %s", strerror(errno));
}

int replay_start(struct vm *vm, unsigned held, const struct rendezvous *m, const struct replay_config *config,
		 const struct replay_keep *keep, struct replay_job *job, struct err *err)
{
	struct vm_state state = {0};
	pid_t parent = getpid(), pid = -1;
	int result[2] = {-1, -1}, go[2] = {-1, -1};

	if (vm_devices_stand_still(vm, err) < 0)
		return -1;
	if (open_pipes(result, go, err) < 0 || vm_state_save(vm, held, &state, err) < 0)
		goto out;
	pid = fork();
	if (pid == 0)
		holder_run(parent, vm, &state, m, config, keep, &(struct holder_pipes){.go = go[0], .out = result[1]});
	if (pid < 0) {
		err_set(err, EXIT_INTERNAL, "replay: fork: %s", strerror(errno));
		goto out;
	}
	*job = (struct replay_job){.pid = pid, .fd = result[0], .go = go[1]};
	result[0] = go[1] = -1;
out:
	vm_devices_go_on(vm);
	close_both(result);
	close_both(go);
	vm_state_free(&state);
	return pid < 0 ? -1 : 0;
}

void replay_go(struct replay_job *job)
{
	if (job->go >= 0)
		close(job->go);
	job->go = -1;
}

void replay_forget(struct replay_job *job)
{
	const char byte = 0;

	/* If the child has died, the write fails, which does no harm: replay_drop() ends the job in either case. */
	if (job->go >= 0)
		(void)!write(job->go, &byte, sizeof(byte));
	replay_drop(job);
}

static void set_failed(struct replay_instance *out, const char *text)
{
	*out = (struct replay_instance){.outcome = REPLAY_FAILURE, .why = REPLAY_CANNOT_LOAD};
	snprintf(out->why_text, sizeof(out->why_text), "%s", text);
}

static void make_difference_whole(struct replay_difference *in)
{
	uint8_t truth;

	memcpy(&truth, &in->is_register, 1);
	in->is_register = truth != 0;
	in->name[REPLAY_NAME_MAX - 1] = '\0';
}

/* Make bytes from another process a valid struct: strings are terminated, and a bool is 0 or 1. */
static void make_whole(struct replay_instance *in)
{
	in->why_text[REPLAY_TEXT_MAX - 1] = '\0';
	for (unsigned i = 0; i < 2; i++)
		in->orders[i].trouble[REPLAY_TEXT_MAX - 1] = '\0';
	for (unsigned i = 0; i < REPLAY_DIFFERENCES_MAX; i++)
		make_difference_whole(&in->differences[i]);
}

/* Read the result. Returns false if the child died without one. */
static bool read_result(struct replay_job *job, void *out, size_t size)
{
	ssize_t n;

	do
		n = read(job->fd, out, size);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)size;
}

void replay_finish(struct replay_job *job, struct replay_instance *out)
{
	if (!read_result(job, out, sizeof(*out))) {
		set_failed(out, "the process that held the copy died");
	} else {
		make_whole(out);
		out->last_moment = false;
		if (replay_instance_wrong(out))
			set_failed(out, "the process that held the copy sent an impossible result");
	}
	replay_clean(out);
	replay_drop(job);
}

static void set_unknown(struct section_replay_instance *out, const char *why)
{
	*out = (struct section_replay_instance){.outcome = SECTION_OUTCOME_UNKNOWN};
	snprintf(out->why, sizeof(out->why), "%s", why);
}

void replay_finish_sections(struct replay_job *job, struct section_replay_instance *out)
{
	if (!read_result(job, out, sizeof(*out))) {
		set_unknown(out, "the process that held the copy died");
	} else {
		out->why[REPLAY_TEXT_MAX - 1] = out->trouble[REPLAY_TEXT_MAX - 1] = '\0';
		for (unsigned i = 0; i < SECTION_REPLAY_DIFFERENCES_MAX; i++)
			make_difference_whole(&out->differences[i].serial);
		if (section_replay_wrong(out))
			set_unknown(out, "the process that held the copy sent an impossible result");
	}
	section_replay_clean(out);
	replay_drop(job);
}

void replay_drop(struct replay_job *job)
{
	replay_go(job);
	close(job->fd);
	job->fd = -1;
	process_ended_within(job->pid, END_MILLISECONDS);
}
