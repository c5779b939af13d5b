/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suspicions as SARIF. Only the SARIF export uses this header. */
#ifndef OUTRIDER_EXPORT_SARIF_SUSPICIONS_H
#define OUTRIDER_EXPORT_SARIF_SUSPICIONS_H

#include "hv/export/export.h"
#include "hv/report/json/write.h"

/*
 * A run object (section 3.14) of the suspicions of run->locks, which is not NULL: they are never mixed with races.
 * `invocations` are those of the run object of the races, which keeps them.
 */
json_t *sarif_suspicions(struct json_builder *b, const struct export_run *run, json_t *invocations);

#endif
