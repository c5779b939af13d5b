/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU 1 has a child make segments of shared memory and exit, and attaches and detaches each. CPU 0 has the kernel destroy what
 * has no maker and no attachment, and then turns this off again, so that the next segments outlive their maker.
 */
#include "../trigger.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>

#define COUNT 8
#define ROUNDS 20 /* with the first segments, before others are made */
#define FORCED "/proc/sys/kernel/shm_rmid_forced"

struct segments {
	int first[COUNT], others[COUNT];
};

static void destroy_orphans(void *opaque)
{
	(void)opaque;
	if ((!is_explored() && !write_text(FORCED, "0")) || !write_text(FORCED, "1"))
		die("write " FORCED);
}

static void make(int *segments)
{
	pid_t child = need(fork(), "fork");

	if (child == 0) {
		for (int i = 0; i < COUNT; i++)
			segments[i] = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void attach_and_detach(const int *segments)
{
	for (int i = 0; i < COUNT; i++) {
		/* It fails if the segment has been destroyed already. */
		void *at = shmat(segments[i], NULL, 0);

		if (at != (void *)-1)
			shmdt(at);
	}
}

static void make_and_attach(void *opaque)
{
	struct segments *s = opaque;

	if (is_explored_step) {
		attach_and_detach(s->others);
		return;
	}
	for (int i = 0; i < ROUNDS; i++)
		attach_and_detach(s->first);
	make(s->others);
	attach_and_detach(s->others);
}

int main(void)
{
	struct segments *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		die("map shared memory");
	make(s->first);
	for (int i = 0; i < COUNT; i++)
		if (shmat(s->first[i], NULL, 0) == (void *)-1)
			die("attach a segment");
	if (is_explored())
		make(s->others);
	repeat_both(destroy_orphans, make_and_attach, s);
}
