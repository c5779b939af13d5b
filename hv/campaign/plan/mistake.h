/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mistakes in a campaign file for which "expected ..." of the grammar's documentation does not say the reason. Pure functions.
 * Each writes a sentence without a full stop to `out`, in one line of printable characters, and returns false, with `out`
 * unchanged, if there is no such mistake. Only hv/campaign/plan/ uses this header.
 */
#ifndef OUTRIDER_CAMPAIGN_PLAN_MISTAKE_H
#define OUTRIDER_CAMPAIGN_PLAN_MISTAKE_H

#include <libxml/tree.h>
#include <stdbool.h>
#include <stddef.h>

#define MISTAKE_MAX 512 /* bytes of a sentence, with the NUL */

/* `value` is the attribute `name` of `node`, and no name of a campaign or of a part of its runs. */
bool mistake_in_name(const xmlNode *node, const char *value, char out[MISTAKE_MAX]);

/* The element is in a namespace. */
bool mistake_of_namespace(const xmlNode *node, char out[MISTAKE_MAX]);

/* The element, which may only contain elements, contains text. Sets *line to the text's line in the file. */
bool mistake_of_text(const xmlNode *node, char out[MISTAKE_MAX], long *line);

#endif
