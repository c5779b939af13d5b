/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The form of a scenario's file: SCENARIO_MAGIC and a version in the clear, and then one zstd frame with a checksum. In the
 * frame are sections: a type and a length, and the bytes of that length. All numbers are little-endian. Internal to this
 * folder.
 */
#ifndef OUTRIDER_REPLAY_SCENARIO_FORMAT_H
#define OUTRIDER_REPLAY_SCENARIO_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/replay/scenario/scenario.h"

#define SCENARIO_MAGIC "\x93OUTRIDE"
#define SCENARIO_MAGIC_LEN 8
#define SCENARIO_VERSION 1u

/* They are in this order, each of them once. A number stands for one thing for ever. */
enum scenario_section {
	SCENARIO_FACTS = 1,
	SCENARIO_STATE,
	/* Runs of pages that are not all zero, by rising offset: struct scenario_run, and its pages. */
	SCENARIO_RAM,
	SCENARIO_END,
};

struct scenario_head {
	char magic[SCENARIO_MAGIC_LEN];
	uint32_t version, zero;
};

struct scenario_part {
	uint32_t type, zero;
	uint64_t len; /* bytes that follow; 0 of SCENARIO_RAM, whose runs end with one of no pages */
};

struct scenario_run {
	uint64_t offset; /* in the mapping of RAM */
	uint64_t pages;
};

/* ---- fields.c: the facts, the meeting and the config as bytes ---- */

/* Bytes that this takes at most. */
#define SCENARIO_FIELDS_MAX 16384u

/* Write the fields to `out`. Returns their length. */
size_t scenario_put_fields(const struct scenario *s, uint8_t out[SCENARIO_FIELDS_MAX]);

/*
 * Read the fields, and make all texts printable. Whether the values can be is the caller's to check. Returns false when `len`
 * is not their length.
 */
bool scenario_get_fields(struct scenario *s, const uint8_t *bytes, size_t len);

#endif
