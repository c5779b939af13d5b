/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes suspicions as SARIF. Private to the SARIF export. */
#ifndef OUTRIDER_EXPORT_SARIF_SUSPICIONS_H
#define OUTRIDER_EXPORT_SARIF_SUSPICIONS_H

#include "hv/export/export.h"
#include "hv/report/json/write.h"

/*
 * Returns a run object (section 3.14) with the suspicions in run->locks, which must not be NULL. Suspicions have a run object
 * of their own, because they are not mixed with races. Both run objects share `invocations`.
 */
json_t *sarif_suspicions(struct json_builder *b, const struct export_run *run, json_t *invocations);

#endif
