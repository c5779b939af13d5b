/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that one run recorded about locks. */
#ifndef OUTRIDER_RACE_LOCK_RECORD_H
#define OUTRIDER_RACE_LOCK_RECORD_H

#include "hv/race/protection.h"
#include "hv/race/suspicion.h"

/* Owns both members. All zero: locks were not followed. */
struct lock_record {
	struct protection *protection;
	struct suspicions suspicions;
};

/* Free the members and zero the record. */
void lock_record_fini(struct lock_record *record);

#endif
