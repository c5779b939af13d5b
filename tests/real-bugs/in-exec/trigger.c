/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread calls execve() for a file that does not exist, and the other makes children that share the process's fs_struct. */
#include "../trigger.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void exec_nothing(void *opaque)
{
	char *const none[] = {NULL};

	(void)opaque;
	execve("/does-not-exist", none, none);
}

static void clone_fs(void *opaque)
{
	long child = syscall(SYS_clone, CLONE_FS | CLONE_VM | CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, 0);

	(void)opaque;
	if (child == 0)
		syscall(SYS_exit, 0);
	if (child > 0)
		waitpid((pid_t)child, NULL, 0);
}

int main(void)
{
	repeat_both(exec_nothing, clone_fs, NULL);
}
