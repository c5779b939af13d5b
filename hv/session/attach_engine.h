/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine of `outrider attach`: one that runs already, behind a gdbstub. It is never stopped for good, only let go. */
#ifndef OUTRIDER_SESSION_ATTACH_ENGINE_H
#define OUTRIDER_SESSION_ATTACH_ENGINE_H

#include "hv/cli/attach_options.h"
#include "hv/session/guard.h"
#include "hv/session/engine.h"
#include "hv/libvirt/domain.h"
#include "hv/target/gdb/gdb.h"

struct attach_engine {
	struct engine engine;
	const struct attach_options *options;
	struct screen *screen;
	struct domain *domain; /* NULL: a gdbstub without libvirt */
	struct guard *guard;
	struct gdb_journal *journal;
	bool left;	   /* its last owner was killed */
	const char *ended; /* what libvirt said of the end, or NULL */
	enum gdb_end end;
};

/* `options` and `guard` must last. */
void attach_engine_init(struct attach_engine *e, const struct attach_options *options, struct guard *guard);

#endif
