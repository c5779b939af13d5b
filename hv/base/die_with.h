/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Has the kernel end a process, made by fork(), as soon as the parent process ends. */
#ifndef OUTRIDER_BASE_DIE_WITH_H
#define OUTRIDER_BASE_DIE_WITH_H

#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * In the child of a fork(): have the kernel kill this process when the thread of `parent` that forked it ends. If the parent
 * has already ended, exit at once.
 */
static inline void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* The parent may have died before the prctl(), which then has no effect. */
	if (getppid() != parent)
		_exit(1);
}

#endif
