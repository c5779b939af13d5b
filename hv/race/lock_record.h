/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one run knows of locks. */
#ifndef OUTRIDER_RACE_LOCK_RECORD_H
#define OUTRIDER_RACE_LOCK_RECORD_H

#include "hv/race/protection.h"
#include "hv/race/suspicion.h"

/* It owns both. All zero: no locks were followed. */
struct lock_record {
	struct protection *protection;
	struct suspicions suspicions;
};

/* Free what the record has. It is all zero afterwards. */
void lock_record_fini(struct lock_record *record);

#endif
