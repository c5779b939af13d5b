// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hv/replay/holder.h"
#include "hv/replay/process.h"

/* Many times what the end of a process takes, which gives back the memory of a machine. */
#define END_MILLISECONDS 60000

/* The child writes its result in one go, and does not wait for the reader. */
_Static_assert(sizeof(struct replay_instance) <= PIPE_BUF, "a result must fit into an empty pipe");

int replay_start(struct vm *vm, unsigned held, const struct meeting *m, const struct replay_config *config,
		 const struct replay_keep *keep, struct replay_job *job, struct err *err)
{
	struct vm_state state = {0};
	pid_t parent = getpid(), pid;
	int ends[2], rc = 0;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(err, EXIT_INTERNAL, "replay: pipe: %s", strerror(errno));
	vm_devices_stand_still(vm);
	if (vm_state_save(vm, held, &state, err) < 0) {
		vm_devices_go_on(vm);
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	pid = fork();
	if (pid == 0)
		holder_run(parent, vm, &state, m, config, keep, ends[1]);
	if (pid < 0)
		rc = err_set(err, EXIT_INTERNAL, "replay: fork: %s", strerror(errno));
	vm_devices_go_on(vm);
	close(ends[1]);
	if (pid < 0)
		close(ends[0]);
	else
		*job = (struct replay_job){.pid = pid, .fd = ends[0]};
	vm_state_free(&state);
	return rc;
}

static void set_failed(struct replay_instance *out, const char *text)
{
	*out = (struct replay_instance){.outcome = REPLAY_FAILURE, .why = REPLAY_CANNOT_LOAD};
	snprintf(out->why_text, sizeof(out->why_text), "%s", text);
}

/* Make the bytes of another process a struct that can be looked at: strings end, and a truth is 0 or 1. */
static void make_whole(struct replay_instance *in)
{
	in->why_text[REPLAY_TEXT_MAX - 1] = '\0';
	for (unsigned i = 0; i < 2; i++)
		in->orders[i].trouble[REPLAY_TEXT_MAX - 1] = '\0';
	for (unsigned i = 0; i < REPLAY_DIFFERENCES_MAX; i++) {
		uint8_t truth;

		memcpy(&truth, &in->differences[i].is_register, 1);
		in->differences[i].is_register = truth != 0;
		in->differences[i].name[REPLAY_NAME_MAX - 1] = '\0';
	}
}

void replay_finish(struct replay_job *job, struct replay_instance *out)
{
	ssize_t n;

	do
		n = read(job->fd, out, sizeof(*out));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*out)) {
		set_failed(out, "the process that held the copy died");
	} else {
		make_whole(out);
		if (replay_instance_wrong(out))
			set_failed(out, "the process that held the copy says what cannot be");
	}
	replay_clean(out);
	replay_drop(job);
}

void replay_drop(struct replay_job *job)
{
	close(job->fd);
	job->fd = -1;
	process_ended_within(job->pid, END_MILLISECONDS);
}
