/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `outrider replay --gdb`: opens a socket for gdb, and starts a process that serves gdb until the session ends or a signal
 * arrives.
 */
#ifndef OUTRIDER_CLI_REPLAY_GDB_H
#define OUTRIDER_CLI_REPLAY_GDB_H

#include <stdbool.h>

#include "hv/base/own_socket.h"
#include "hv/replay/run.h"

struct replay_gdb {
	/* The address for gdb: HOST:PORT, or the path of the Unix socket. */
	const char *address;
	const char *socket;	       /* the path of the Unix socket; NULL: gdb connects by TCP */
	char own[OWN_SOCKET_PATH_MAX]; /* for "unix:": the path of the socket that was made in the user's folder */
	int listener;		       /* descriptor of the listening socket; -1: closed */
};

#define REPLAY_GDB_NONE ((struct replay_gdb){.listener = -1})

/* Returns whether `address` names a Unix socket: "unix:PATH", or "unix:" for a socket in the user's folder. */
bool replay_gdb_is_unix(const char *address);

/*
 * Listen at "unix:PATH" or at "unix:"; or at [HOST:]PORT, with a warning on standard error that other users can connect, too.
 * SIGINT, SIGTERM and SIGHUP are blocked from now on, for replay_gdb_serve(). Returns 0, or -1 with `err` set: EXIT_USAGE for
 * an invalid address, otherwise EXIT_INPUT. `g` must not be moved. replay_gdb_close() may be called in both cases.
 */
int replay_gdb_open(struct replay_gdb *g, const char *address, struct err *err);

/* Close the socket, and remove its file if it is a Unix socket. */
void replay_gdb_close(struct replay_gdb *g);

/*
 * Print the address for gdb, and serve the order in which the access of side `first` goes first, until the client disconnects
 * or SIGINT, SIGTERM or SIGHUP arrives. `intro` is as for gdb_replay(). Returns 0, or -1 with `err` set.
 */
int replay_gdb_serve(const struct replay_gdb *g, const struct run_plan *plan, unsigned first, const char *intro,
		     struct err *err);

#endif
