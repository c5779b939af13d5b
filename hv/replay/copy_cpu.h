/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All registers of a CPU of a copy, for debuggers. */
#ifndef OUTRIDER_REPLAY_COPY_CPU_H
#define OUTRIDER_REPLAY_COPY_CPU_H

#include "hv/base/err.h"
#include "hv/replay/copy.h"
#include "hv/replay/cpu.h"

/* Get the registers of a CPU, which must be stopped. Returns 0, or -1 with `err` set. */
int copy_get_cpu(struct copy *c, unsigned cpu, struct replay_cpu *out, struct err *err);

/*
 * Set the registers of a CPU, which must be stopped, except for the selectors, the control registers, EFER and the IDT. Returns
 * 0, or -1 with `err` set.
 */
int copy_set_cpu(struct copy *c, unsigned cpu, const struct replay_cpu *in, struct err *err);

#endif
