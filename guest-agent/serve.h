/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent as a service: it does what the host says (docs/guest-agent.md).
 */
#ifndef OUTRIDER_SERVE_H
#define OUTRIDER_SERVE_H

#include <stdbool.h>
#include <stdio.h>

/* Print a line on each option of "serve". */
void serve_print_options(FILE *out);

/*
 * Serve the host until it says poweroff, or until SIGTERM or SIGINT comes. `argv` are the options, `argc` their number. All
 * jobs have ended when it returns. Returns an enum agent_rc, and sets *power_off to whether the host wants the machine to be
 * powered off.
 */
int serve(int argc, char *const argv[], bool *power_off);

/* Have the system power the machine off: by systemd, or by the command poweroff. Returns only when that fails, and has said
 * why. */
void serve_power_off(void);

#endif
