/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compresses texts for the store. Only hv/campaign/store/ uses this header. Pure functions. */
#ifndef OUTRIDER_CAMPAIGN_STORE_COMPRESS_H
#define OUTRIDER_CAMPAIGN_STORE_COMPRESS_H

#include <stddef.h>

#include "hv/base/err.h"

#define COMPRESS_TEXT_MAX (256u << 20)

/*
 * Compress `len` bytes of text. The result is `len` in 4 bytes, then zlib data. Returns *size bytes from malloc(), or NULL with
 * err set: EXIT_INTERNAL if memory runs out, EXIT_INPUT for more than COMPRESS_TEXT_MAX bytes.
 */
void *record_compress(const char *text, size_t len, size_t *size, struct err *err);

/*
 * Returns the decompressed text with a NUL at its end, from malloc(). `data` is not trusted. Returns NULL with err set:
 * EXIT_INTERNAL if memory runs out; EXIT_INPUT if the data are not from record_compress(), with a message that begins with
 * `where`.
 */
char *record_decompress(const void *data, size_t size, const char *where, struct err *err);

#endif
