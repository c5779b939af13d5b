/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the file of --prefer: weights as JSON (docs/coverage-format.md). The file is untrusted. */
#ifndef OUTRIDER_REPORT_COVERAGE_PREFER_JSON_H
#define OUTRIDER_REPORT_COVERAGE_PREFER_JSON_H

#include <stddef.h>

#include "hv/base/err.h"
#include "hv/race/prefer.h"

#define PREFER_SCHEMA "outrider-prefer/1"
/* Size limit of the file in bytes. A file with weights for a million sites has 40 MB. */
#define PREFER_FILE_MAX (64u << 20)

/* Read the file. Free the table with prefer_free(). Returns NULL with err set: EXIT_INPUT if the file is not valid. */
struct prefer *prefer_load(const char *path, struct err *err);

/*
 * Read the weights from the `len` bytes at `text` instead of a file. `path` is the name for messages. Returns as prefer_load()
 * does.
 */
struct prefer *prefer_read(const char *text, size_t len, const char *path, struct err *err);

#endif
