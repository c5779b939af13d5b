/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent as a service: it carries out commands that the host sends (docs/guest-agent.md).
 */
#ifndef OUTRIDER_SERVE_H
#define OUTRIDER_SERVE_H

#include <stdbool.h>
#include <stdio.h>

/* Print one line for each option of "serve", with the option's description. */
void serve_print_options(FILE *out);

/*
 * Serve the host until the command "poweroff", SIGTERM or SIGINT comes. `argv` are the options, `argc` their number. All jobs
 * have ended on return. Returns an enum agent_rc, and sets *power_off if the end was the command "poweroff".
 */
int serve(int argc, char *const argv[], bool *power_off);

/* Power the machine off by systemctl, or by the command poweroff. Returns only if both fail, after it has written why. */
void serve_power_off(void);

#endif
