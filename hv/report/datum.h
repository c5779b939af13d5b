/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the best known name of a race's datum. */
#ifndef OUTRIDER_REPORT_DATUM_H
#define OUTRIDER_REPORT_DATUM_H

#include "hv/report/json/read.h"
#include "hv/report/json/write.h"
#include "hv/race/store.h"

/* Bytes of the texts below, including the NUL. */
#define DATUM_TEXT_MAX 1200

/*
 * Write the datum's printable name. With debug files: for example "inode->i_nlink". Without debug files, from the guest's own
 * data structures: for example "jiffies_64", "runqueues+0x148 of CPU 1", "task_struct.flags", "kmalloc-64+0x10". Objects of
 * slab caches are named by slab_name(). Returns false, and writes "", if the datum has no name.
 */
bool datum_path(const struct race *race, char out[DATUM_TEXT_MAX]);

/* Write the printable name of any guest memory, from the guest's own data structures. Returns as datum_path() does. */
bool datum_memory_path(const struct guest_memory *memory, char out[DATUM_TEXT_MAX]);

/*
 * Write the kind of the memory as a phrase: "slab task_struct, +44 in 3264 bytes at 0x...". Returns false, and writes "", if
 * the kind is unknown.
 */
bool datum_memory(const struct guest_memory *memory, char out[DATUM_TEXT_MAX]);

/* Returns the kind of the memory as a JSON object, or null if the kind is unknown. */
json_t *datum_memory_json(struct json_builder *b, const struct guest_memory *memory);

/* Read the member "memory" of a race's JSON object. If the member is missing, the kind of the memory is unknown. */
void datum_memory_read(struct json_reader *r, const json_t *race, struct guest_memory *out);

#endif
