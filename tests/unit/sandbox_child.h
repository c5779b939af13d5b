/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that are confined as a thread of some kind, for the tests of the sandbox. */
#ifndef OUTRIDER_TESTS_SANDBOX_CHILD_H
#define OUTRIDER_TESTS_SANDBOX_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "hv/sandbox/sandbox.h"

#define ALL_KINDS ((1u << SANDBOX_MAIN) - 1)

/* In place of a kind: the network process. */
#define NETWORK_PROCESS ((enum sandbox_kind)(SANDBOX_MAIN + 1))

/* What a child does once it is confined. Returns 0 when all is as it should be. */
typedef int deed(void *arg);

/* The names of the kinds, as messages have them; indices are enum sandbox_kind. */
extern const char *const sandbox_kinds[];

/* Whether this host and this build can confine a process. */
bool can_confine(void);

/*
 * Run `act` in a child that is confined as `kind`, by `config` where that is SANDBOX_MAIN. Returns the child's status
 * (waitpid(2)), and what it said on standard error.
 */
int in_child(const struct sandbox_config *config, enum sandbox_kind kind, deed *act, void *arg, char *said, size_t size);

/* Run `act` likewise, and check that the sandbox ended the child because of the system call that is named. */
void assert_stopped(enum sandbox_kind kind, deed *act, void *arg, const char *call);

#endif
