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
	/* The address of a gdbstub, unix:PATH or HOST:PORT. */
	const char *gdb;
	/* Share of the time that the guest may stand still, in percent. */
	unsigned overhead;
};

struct attach_engine {
	struct engine engine;
	const struct attach_engine_config *config;
	struct screen *screen;
	/* The libvirt domain that the gdbstub belongs to. NULL: the gdbstub belongs to no libvirt domain. */
	struct domain *domain;
	struct guard *guard;
	struct gdb_journal *journal;
	/* When to give up the connection to the gdbstub. */
	struct limit limit;
	/* The gdbstub failed: the guest may stand still, with points in it. */
	bool standing;
	/* An earlier outrider was killed while attached, and left points in the guest. */
	bool left;
	/* The end of the machine as libvirt reported it, or NULL. */
	const struct domain_event *ended;
	enum gdb_end end;
};

/* Initialise the engine. `config` and `guard` must outlive it. */
void attach_engine_init(struct attach_engine *e, const struct attach_engine_config *config, struct guard *guard);

#endif
