/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine of `outrider attach`: a machine that runs already, behind a gdbstub. The engine never ends the machine. At the end
 * it takes back what it planted and lets the machine run.
 */
#ifndef OUTRIDER_SESSION_ATTACH_ENGINE_H
#define OUTRIDER_SESSION_ATTACH_ENGINE_H

#include "hv/base/limit.h"
#include "hv/libvirt/domain.h"
#include "hv/session/engine.h"
#include "hv/session/guard.h"
#include "hv/target/gdb/gdb.h"

/* Exactly one of `domain` and `gdb` is set. */
struct attach_engine_config {
	const char *connect; /* libvirt's URI. NULL: libvirt's own default. */
	const char *domain;  /* The libvirt domain to attach to. */
	const char *gdb;     /* The address of a gdbstub, unix:PATH or HOST:PORT. */
	unsigned overhead;   /* How much of the time the guest may stand still, in percent. */
};

struct attach_engine {
	struct engine engine;
	const struct attach_engine_config *config;
	struct screen *screen;
	struct domain *domain; /* NULL: the gdbstub is not libvirt's. */
	struct guard *guard;
	struct gdb_journal *journal;
	struct limit limit; /* When the connection to the gdbstub is given up. */
	bool standing;	    /* The gdbstub has failed: the guest may stand still, with what was planted in it. */
	bool left;	    /* The last outrider that was attached here was killed, and left something in the guest. */
	const struct domain_event *ended; /* What libvirt said of the machine's end. NULL: it said nothing. */
	enum gdb_end end;
};

/* `config` and `guard` must outlive the engine. */
void attach_engine_init(struct attach_engine *e, const struct attach_engine_config *config, struct guard *guard);

#endif
