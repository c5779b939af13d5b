/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mistakes in a campaign file for which "expected ..." of the grammar's documentation does not say the reason. Pure functions.
 * Each function looks for one mistake. If it finds the mistake, it writes a sentence without a full stop to `out`, in one line
 * of printable characters, and returns true. Otherwise it returns false and leaves `out` unchanged. Only hv/campaign/plan/ uses
 * this header.
 */
#ifndef OUTRIDER_CAMPAIGN_PLAN_MISTAKE_H
#define OUTRIDER_CAMPAIGN_PLAN_MISTAKE_H

#include <libxml/tree.h>
#include <stdbool.h>
#include <stddef.h>

#define MISTAKE_MAX 512 /* bytes of a sentence, with the NUL */

/*
 * Say why `value`, the attribute `name` of `node`, is no valid name. `node` is a campaign, or an element whose name becomes a
 * part of the key that identifies a run.
 */
bool mistake_in_name(const xmlNode *node, const char *value, char out[MISTAKE_MAX]);

/* Say that the element is in a namespace. */
bool mistake_of_namespace(const xmlNode *node, char out[MISTAKE_MAX]);

/* Say that there is text in this element, which may only contain elements. Sets *line to the text's line in the file. */
bool mistake_of_text(const xmlNode *node, char out[MISTAKE_MAX], long *line);

#endif
