/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates and frees the strings of a list that was read from a store. All strings are valid until text_free(). Only
 * hv/campaign/store/ uses this header. No locks.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_TEXT_H
#define OUTRIDER_CAMPAIGN_STORE_TEXT_H

#include <stdbool.h>

#include "hv/base/err.h"

struct store_text;

/* Returns an empty list of strings, to be freed by text_free(); or NULL with err set if memory runs out. */
struct store_text *text_new(struct err *err);

/* Free all strings. `t` may be NULL. */
void text_free(struct store_text *t);

/*
 * Returns a copy of `text` that is safe to print, because stores are not trusted. The copy belongs to `t`. NULL means "". If
 * memory runs out or all strings exceed their limit, returns "", and text_failed() will return true.
 */
const char *text_copy(struct store_text *t, const char *text);

/* Returns a string made by a printf() format, as text_copy() does. */
const char *text_printf(struct store_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Returns true if text_copy() or text_printf() has returned "" in place of a string since text_new(), and then sets err:
 * EXIT_INTERNAL if memory ran out, EXIT_INPUT if the strings exceed their limit.
 */
bool text_failed(const struct store_text *t, struct err *err);

#endif
