/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the GNU build id in ELF notes (gABI, "Note Section"). A note is a header, a name and a descriptor. Name and descriptor
 * are each padded to four bytes.
 */
#ifndef OUTRIDER_SYMBOLS_TABLES_ELF_NOTES_H
#define OUTRIDER_SYMBOLS_TABLES_ELF_NOTES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Find the GNU build id in `len` bytes of notes, which may be invalid. Skips a build id longer than `max` bytes. Returns the
 * length of the build id in bytes and points *id to it, inside `notes`. Returns 0 if there is no such build id.
 */
size_t elf_notes_build_id(const uint8_t *notes, size_t len, size_t max, const uint8_t **id);

#endif
