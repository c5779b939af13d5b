/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the next run is to prefer, learnt from all runs before: the file of --prefer (docs/coverage-format.md).
 * docs/learning.md says by which rule, and what it gains.
 */
#ifndef OUTRIDER_CAMPAIGN_LEARN_LEARN_H
#define OUTRIDER_CAMPAIGN_LEARN_LEARN_H

#include "hv/base/err.h"
#include "hv/campaign/store/store.h"

/*
 * Write the weights for the kernel with this build id (hexadecimal) to `path`, from what the store knows of it. The file is
 * written under another name and renamed. Returns 0; or 1 when the store knows nothing of that build, and there is no file; or
 * -1 with err set. The file depends on the store's content only: the choice that a run makes of it is random, by its own seed.
 */
int learn_prefer(struct store *s, const char *build_id, const char *path, struct err *err);

#endif
