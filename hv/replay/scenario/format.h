/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of a scenario file: SCENARIO_MAGIC and a version, not compressed, and then one zstd frame with a checksum. The
 * frame contains sections: a type, a length, and that number of bytes. All numbers are little-endian. Internal to this folder.
 */
#ifndef OUTRIDER_REPLAY_SCENARIO_FORMAT_H
#define OUTRIDER_REPLAY_SCENARIO_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/replay/scenario/scenario.h"

#define SCENARIO_MAGIC "\x93OUTRIDE"
#define SCENARIO_MAGIC_LEN 8
#define SCENARIO_VERSION 2u /* the version that is written; version 1 is read, too */

/* The sections, in this order, each once. A number is never reused. */
enum scenario_section {
	SCENARIO_FACTS = 1,
	SCENARIO_STATE,
	/*
	 * The pages that have a byte other than 0, as ranges of consecutive pages in order of offset. For each range: a struct
	 * scenario_run, then the pages.
	 */
	SCENARIO_RAM,
	SCENARIO_END,
};

struct scenario_head {
	char magic[SCENARIO_MAGIC_LEN];
	uint32_t version, zero;
};

struct scenario_part {
	uint32_t type, zero;
	uint64_t len; /* number of bytes that follow; 0 for SCENARIO_RAM, which ends with a range of 0 pages */
};

struct scenario_run {
	uint64_t offset; /* offset in the mapping of RAM */
	uint64_t pages;
};

/* ---- fields.c: the facts, the rendezvous and the config as bytes ---- */

/* Maximum number of bytes that the fields take. */
#define SCENARIO_FIELDS_MAX 16384u

/* Write the fields to `out`. Returns their length in bytes. */
size_t scenario_put_fields(const struct scenario *s, uint8_t out[SCENARIO_FIELDS_MAX]);

/*
 * Read the fields of a file of this version, and make all texts printable. The caller checks the values. Returns false when
 * `len` is not the fields' length.
 */
bool scenario_get_fields(struct scenario *s, uint32_t version, const uint8_t *bytes, size_t len);

#endif
