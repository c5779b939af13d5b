/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard is a process of ours that waits until outrider is gone. When outrider was killed without a chance to clean up, the
 * guard takes everything of ours out of the attached machine and lets the machine run. It shares outrider's connection to the
 * gdbstub. It has no other descriptor of outrider's, and it ends some seconds after outrider at the latest.
 */
#ifndef OUTRIDER_SESSION_GUARD_H
#define OUTRIDER_SESSION_GUARD_H

#include "hv/base/err.h"

struct guard;

/* Start the guard's process. The caller must not have started a thread before. Returns NULL with err set on failure. */
struct guard *guard_start(struct err *err);

/*
 * Tell the guard that from now on there is something to take back from the machine whose gdbstub is connected to `fd`. The
 * guard then also removes the file `journal`. `domain` names the libvirt domain whose gdbstub the guard closes, at the
 * connection `uri`; a NULL `uri` is libvirt's default, and a NULL `domain` means that there is no gdbstub to close. All strings
 * are copied.
 */
void guard_watch(struct guard *g, int fd, const char *journal, const char *uri, const char *domain);

/*
 * Say that outrider itself cannot take everything back, because the stub did not answer in time. The guard tries it once more,
 * as soon as outrider's end of the connection is closed and guard_end() was called.
 */
void guard_take_over(struct guard *g);

/*
 * Tell the guard that nothing is left to take back, and wait for its end. After guard_take_over() the guard goes on by itself
 * instead, and is not waited for. A NULL `g` is allowed.
 */
void guard_end(struct guard *g);

#endif
