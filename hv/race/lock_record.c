// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/race/lock_record.h"

void lock_record_fini(struct lock_record *record)
{
	protection_free(record->protection);
	suspicions_fini(&record->suspicions);
	*record = (struct lock_record){0};
}
