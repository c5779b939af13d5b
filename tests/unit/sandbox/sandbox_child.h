/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that are confined as a thread of some kind, for the tests of the sandbox. */
#ifndef OUTRIDER_TESTS_SANDBOX_CHILD_H
#define OUTRIDER_TESTS_SANDBOX_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/sandbox/sandbox.h"

#define ALL_KINDS ((1u << SANDBOX_MAIN) - 1)

/* Stands for the network process, which is not a kind of thread. */
#define NETWORK_PROCESS ((enum sandbox_kind)(SANDBOX_MAIN + 1))

/* What a child does after it was confined. Returns 0 when the child passes. */
typedef int deed(void *arg);

/* The names of the kinds in messages, by enum sandbox_kind. */
extern const char *const sandbox_kinds[];

/* Whether this host and this build can confine a process. */
bool can_confine(void);

/*
 * Run `act` in a child that is confined as `kind`. For SANDBOX_MAIN, `config` says what the child needs. Returns the child's
 * status (waitpid(2)), and in `said` what the child wrote to standard error.
 */
int in_child(const struct sandbox_config *config, enum sandbox_kind kind, deed *act, void *arg, char *said, size_t size);

/* Run `act` likewise, and check that the sandbox ended the child because of this system call. */
void assert_stopped(enum sandbox_kind kind, deed *act, void *arg, const char *call);

#endif
