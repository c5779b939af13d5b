/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of ours that does nothing until we are gone: killed without a chance to clean up, we leave the machine to it. It
 * has the same connection to the gdbstub, takes everything of ours out of the machine and lets it run.
 */
#ifndef OUTRIDER_SESSION_GUARD_H
#define OUTRIDER_SESSION_GUARD_H

#include "hv/base/err.h"

struct guard;

/* Before there is any other thread. NULL: see err. */
struct guard *guard_start(struct err *err);

/*
 * From here on there is something to take back: what is connected to `fd`. `journal` is a file to be removed then. `domain`,
 * with `uri` or NULL, has a gdbstub to be closed; NULL: none.
 */
void guard_watch(struct guard *g, int fd, const char *journal, const char *uri, const char *domain);

/* All is as it was. NULL is nothing. */
void guard_end(struct guard *g);

#endif
