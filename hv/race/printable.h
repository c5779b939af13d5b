/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All strings of a race are printable (hv/base/clean.h). Strings are cleaned once, on entry into the record, so that no reader
 * of the record needs to clean them. Entry points: race_keep_side() and race_store_add() for strings from the guest,
 * naming_race() for strings from debug files, json_read_text() for strings from reports.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_RACE_PRINTABLE_H
#define OUTRIDER_RACE_PRINTABLE_H

#include "hv/race/names.h"
#include "hv/race/observation.h"

/* Each function cleans every string of its argument in place. */
void printable_context(struct guest_context *context);
void printable_device(struct device_access *device);
void printable_side(struct race_side *side);
void printable_locks(struct race_locks *locks);
void printable_memory(struct guest_memory *memory);
void printable_names(struct race_names *names);

#endif
