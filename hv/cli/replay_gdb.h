/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `outrider replay --gdb`: a socket for gdb, and the process that serves it until it is over or a signal comes. */
#ifndef OUTRIDER_CLI_REPLAY_GDB_H
#define OUTRIDER_CLI_REPLAY_GDB_H

#include "hv/replay/run.h"

struct replay_gdb {
	const char *address;
	const char *socket; /* The path of a Unix socket that was made; or NULL. */
	int listener;	    /* -1: there is none. */
};

#define REPLAY_GDB_NONE ((struct replay_gdb){.listener = -1})

/* Listen. SIGINT, SIGTERM and SIGHUP wait from now on, for replay_gdb_serve(). Returns 0, or -1 with `err` set as gdb_listen()
 * does. replay_gdb_close() may follow either way. */
int replay_gdb_open(struct replay_gdb *g, const char *address, struct err *err);

/* Close the socket, and remove it where it has a path. */
void replay_gdb_close(struct replay_gdb *g);

/*
 * Say where gdb may connect, and serve the order that lets the access of side `first` go first, until the client goes or
 * SIGINT, SIGTERM or SIGHUP comes. `intro` is as for gdb_replay(). Returns 0, or -1 with `err` set.
 */
int replay_gdb_serve(const struct replay_gdb *g, const struct run_plan *plan, unsigned first, const char *intro,
		     struct err *err);

#endif
