/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The strings of a list: each is valid until all of them are freed together. Only hv/campaign/store/ uses this header.
 *
 * No locks.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_TEXT_H
#define OUTRIDER_CAMPAIGN_STORE_TEXT_H

#include <stdbool.h>

#include "hv/base/err.h"

struct store_text;

/* No strings yet. NULL with err set: memory ran out. */
struct store_text *text_new(struct err *err);

/* NULL is allowed. */
void text_free(struct store_text *t);

/*
 * Keep a copy of `text`, made fit to be shown: what stores say is not trusted. NULL stands for "". When memory runs out "" is
 * returned, and text_failed() tells it.
 */
const char *text_keep(struct store_text *t, const char *text);

/* The same with a format of printf(). */
const char *text_printf(struct store_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether memory ran out for any of them. Then err is set. */
bool text_failed(const struct store_text *t, struct err *err);

#endif
