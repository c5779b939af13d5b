/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One look for races in one machine: screen, machine, detector, names and report put together, and taken apart in the opposite
 * order.
 */
#ifndef OUTRIDER_SESSION_SESSION_H
#define OUTRIDER_SESSION_SESSION_H

#include "hv/cli/detect_options.h"
#include "hv/session/engine.h"
#include "hv/session/stopper.h"

/*
 * From open() to close() of the machine, with everything said that is to be said. stopper_block_signals() must have been
 * called. With `detect` false the machine is only run. Returns the exit code.
 */
int session_run(struct engine *engine, const struct detect_options *options, bool detect);

#endif
