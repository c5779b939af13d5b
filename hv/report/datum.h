/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a race's datum is called, by the best that is known of it. */
#ifndef OUTRIDER_REPORT_DATUM_H
#define OUTRIDER_REPORT_DATUM_H

#include "hv/report/json/read.h"
#include "hv/report/json/write.h"
#include "hv/race/store.h"

#define DATUM_TEXT_MAX 1200 /* bytes of the texts below, with the NUL */

/*
 * The datum's name, made printable. With debug files that is "inode->i_nlink". Without it is what the guest's own tables tell:
 * "jiffies_64", "runqueues+0x148 of CPU 1", "task_struct.flags", "kmalloc-64+0x10". False, and "": the datum has no name.
 */
bool datum_path(const struct race *race, char out[DATUM_TEXT_MAX]);

/* The same of memory that is no race's, by what the guest's own tables tell of it. */
bool datum_memory_path(const struct guest_memory *memory, char out[DATUM_TEXT_MAX]);

/* What kind of memory it is, as a phrase: "slab task_struct, +44 in 3264 bytes at 0x...". False, and "": that is not known. */
bool datum_memory(const struct guest_memory *memory, char out[DATUM_TEXT_MAX]);

/* The same as a JSON object. null: it is not known. */
json_t *datum_memory_json(struct json_builder *b, const struct guest_memory *memory);

/* Read member "memory" of a race's object back. It may be missing: then the memory is of an unknown kind. */
void datum_memory_read(struct json_reader *r, const json_t *race, struct guest_memory *out);

#endif
