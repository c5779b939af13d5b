/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard is a process that waits until outrider is gone. If outrider was killed without cleaning up, the guard removes
 * everything that outrider planted in the attached machine, and resumes the machine. The guard shares outrider's connection to
 * the gdbstub and has no other descriptor of outrider's. It exits at most 30 s after outrider.
 */
#ifndef OUTRIDER_SESSION_GUARD_H
#define OUTRIDER_SESSION_GUARD_H

#include "hv/base/err.h"

struct guard;

/* Start the guard's process, before any thread is started. Returns NULL with err set on failure. */
struct guard *guard_start(struct err *err);

/*
 * Tell the guard that the machine whose gdbstub is connected to `fd` now has points to remove. If the guard removes them, it
 * also removes the file `journal`. The guard also makes libvirt close the gdbstub of the libvirt domain `domain`; `uri` is the
 * libvirt connection (NULL: libvirt's default). If `domain` is NULL, libvirt is not used. All strings are copied.
 */
void guard_watch(struct guard *g, int fd, const char *journal, const char *uri, const char *domain);

/*
 * Leave the removal to the guard, because the gdbstub did not answer outrider in time. The guard tries once more, as soon as
 * outrider has closed its end of the connection and called guard_end().
 */
void guard_take_over(struct guard *g);

/*
 * Tell the guard that nothing is left to remove, and wait for its end. After guard_take_over(), do not wait: the guard then
 * continues on its own. `g` may be NULL.
 */
void guard_end(struct guard *g);

#endif
