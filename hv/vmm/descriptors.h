/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raises the limit of open files to what a machine needs. */
#ifndef OUTRIDER_VMM_DESCRIPTORS_H
#define OUTRIDER_VMM_DESCRIPTORS_H

#include "hv/base/err.h"

struct vmm_config;

/*
 * Raise the process's limit of open files (RLIMIT_NOFILE) to what a machine with `config` needs plus a reserve, as far as the
 * hard limit allows. A higher limit stays unchanged. Returns 0, or -1 with EXIT_INPUT if the hard limit is below what the
 * machine needs without the reserve.
 */
int descriptors_allow(const struct vmm_config *config, struct err *err);

#endif
