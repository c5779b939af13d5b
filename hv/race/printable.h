/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The strings of a race are printable (hv/base/clean.h): they are cleaned when they enter the record, so that no one who shows,
 * exports or compares a race need think of it. What the guest says enters in race_keep_side() and race_store_add(), what debug
 * files say in naming_race(), and what a file says in json_read_text().
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_RACE_PRINTABLE_H
#define OUTRIDER_RACE_PRINTABLE_H

#include "hv/race/names.h"
#include "hv/race/observation.h"

/* Each of these cleans every string of what it is given, in place. */
void printable_context(struct guest_context *context);
void printable_device(struct device_access *device);
void printable_side(struct race_side *side);
void printable_locks(struct race_locks *locks);
void printable_memory(struct guest_memory *memory);
void printable_names(struct race_names *names);

#endif
