/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of locks of one run: which locks protect which data, and the suspicions that follow from these data. */
#ifndef OUTRIDER_RACE_LOCK_RECORD_H
#define OUTRIDER_RACE_LOCK_RECORD_H

#include "hv/race/protection.h"
#include "hv/race/suspicion.h"

/* The struct owns what both members point to. All zero: the run did not follow locks. */
struct lock_record {
	struct protection *protection;
	struct suspicions suspicions;
};

/* Free the members and zero the record. */
void lock_record_fini(struct lock_record *record);

#endif
