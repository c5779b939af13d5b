/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text made small for the store, and back. Only hv/campaign/store/ uses this header. Pure functions. */
#ifndef OUTRIDER_CAMPAIGN_STORE_SQUEEZE_H
#define OUTRIDER_CAMPAIGN_STORE_SQUEEZE_H

#include <stddef.h>

#include "hv/base/err.h"

#define SQUEEZE_TEXT_MAX (256u << 20)

/* The text of `len` bytes, compressed (zlib) behind its length. From malloc(), *size bytes. NULL with err set: no memory. */
void *squeeze(const char *text, size_t len, size_t *size, struct err *err);

/*
 * The text again, with a NUL behind it. `data` is not trusted. From malloc(). NULL with err set: EXIT_INPUT when it is not what
 * squeeze() makes; then the message begins with `where`.
 */
char *unsqueeze(const void *data, size_t size, const char *where, struct err *err);

#endif
