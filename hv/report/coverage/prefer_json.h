/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of --prefer, weights as JSON (docs/coverage-format.md). Its author is not trusted. Pure functions but for the file.
 */
#ifndef OUTRIDER_REPORT_COVERAGE_PREFER_JSON_H
#define OUTRIDER_REPORT_COVERAGE_PREFER_JSON_H

#include <stddef.h>

#include "hv/base/err.h"
#include "hv/race/prefer.h"

#define PREFER_SCHEMA "outrider-prefer/1"
/* Bytes that such a file may have. With a weight for each of a million sites it has 40 MB. */
#define PREFER_FILE_MAX (64u << 20)

/* Read the file. The caller frees the table by prefer_free(). NULL with err set: EXIT_INPUT when it is no such file. */
struct prefer *prefer_load(const char *path, struct err *err);

/* The same for the `len` bytes at `text`. `path` is for messages. */
struct prefer *prefer_read(const char *text, size_t len, const char *path, struct err *err);

#endif
