/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for the strings of a list. All strings are valid until text_free(). Only hv/campaign/store/ uses this header. No
 * locks.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_TEXT_H
#define OUTRIDER_CAMPAIGN_STORE_TEXT_H

#include <stdbool.h>

#include "hv/base/err.h"

struct store_text;

/* Make memory without strings. NULL with err set: out of memory. */
struct store_text *text_new(struct err *err);

/* NULL is allowed. */
void text_free(struct store_text *t);

/*
 * Copy `text` and make it safe to print, because stores are not trusted. The copy belongs to `t`. NULL means "". When memory
 * runs out or all strings exceed their limit, return "" and remember it for text_failed().
 */
const char *text_copy(struct store_text *t, const char *text);

/* Like text_copy(), with a printf() format. */
const char *text_printf(struct store_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether any string was lost. Then err is set: EXIT_INTERNAL if memory ran out, EXIT_INPUT if the strings exceed the limit. */
bool text_failed(const struct store_text *t, struct err *err);

#endif
