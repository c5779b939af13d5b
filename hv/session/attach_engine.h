/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine of `outrider attach`: a machine that is running already and has a gdbstub. The engine never ends the machine. In
 * the end, it removes its points, and lets the machine run on.
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
	const char *connect; /* libvirt's URI. NULL: libvirt's default. */
	const char *domain;  /* The libvirt domain to attach to. */
	const char *gdb;     /* The address of a gdbstub, unix:PATH or HOST:PORT. */
	unsigned overhead;   /* Share of the time that the guest may stand still, in percent. */
};

struct attach_engine {
	struct engine engine;
	const struct attach_engine_config *config;
	struct screen *screen;
	struct domain *domain; /* NULL: the gdbstub is not that of a libvirt domain. */
	struct guard *guard;
	struct gdb_journal *journal;
	struct limit limit;		  /* when to give up the connection to the gdbstub */
	bool standing;			  /* The gdbstub failed: the guest may stand still, with points in it. */
	bool left;			  /* An earlier outrider was killed while attached, and left points in the guest. */
	const struct domain_event *ended; /* The end of the machine as libvirt reported it, or NULL. */
	enum gdb_end end;
};

/* Initialise the engine. `config` and `guard` must outlive it. */
void attach_engine_init(struct attach_engine *e, const struct attach_engine_config *config, struct guard *guard);

#endif
