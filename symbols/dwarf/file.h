/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF side of a debug file: its sections, mapped; compressed ones inflated and a module's debug sections relocated when
 * first asked for; its symbol table. Private to symbols/dwarf*.c. Everything in the file is untrusted.
 *
 * Two kinds of address: link addresses, which the DWARF uses, and run-time ones, which callers use. Sections of a relocatable
 * file all begin at 0; they are given link addresses of our own, apart from each other, to which the DWARF is relocated.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_FILE_H
#define OUTRIDER_SYMBOLS_DWARF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

#define DI_BUILD_ID_MAX 64

struct di_section {
	char *name;
	uint8_t *bytes; /* in the map, or `inflated`; NULL: nothing in the file (.bss, stripped) */
	uint64_t size;
	uint8_t *inflated;
	uint64_t link; /* address */
	uint64_t run;  /* if placed */
	uint32_t type, link_section, info_section;
	bool alloc, placed;
	bool compressed, ready; /* ready: inflated and relocated */
};

struct di_file {
	char *path;
	uint8_t *map;
	size_t map_size;
	bool relocatable;
	struct di_section *sections; /* by section number; [0] is empty */
	size_t count;
	uint64_t percpu_size; /* of a linked kernel's per-CPU section at address 0; or 0 */
	uint64_t slide;
	uint8_t build_id[DI_BUILD_ID_MAX];
	size_t build_id_len;
};

int di_file_open(struct di_file *f, const char *path, struct err *err);
void di_file_close(struct di_file *f);

/* The section of that name with bytes in the file, inflated and relocated; NULL when there is none or (err set) it is corrupt.
 */
struct di_section *di_file_section(struct di_file *f, const char *name, struct err *err);

/* The `len` bytes of code at link address `addr`, relocated; NULL: not in the file, or error set. */
const uint8_t *di_file_code(struct di_file *f, uint64_t addr, uint64_t len, struct err *err);

/* Apply the relocations of section `index` of a relocatable file to its bytes. */
int di_file_relocate(struct di_file *f, size_t index, struct err *err);

/* Run-time address to link address and back; false: no part of this file is there. */
bool di_file_to_link(const struct di_file *f, uint64_t run, uint64_t *link);
bool di_file_to_run(const struct di_file *f, uint64_t link, uint64_t *run);

/*
 * The function symbol that contains link address `addr`, or NULL. Scans the table: there is no index to keep in memory, and
 * 100,000 symbols take less than a millisecond.
 */
const char *di_file_function(const struct di_file *f, uint64_t addr);

/* The name of the function that a call instruction's four-byte operand at link address `operand` means, target `target`. */
const char *di_file_call(const struct di_file *f, uint64_t operand, uint64_t target);

/* Up to `max` names of data symbols that contain link address `addr`, innermost start first in *start; how many. */
size_t di_file_objects(const struct di_file *f, uint64_t addr, const char **names, size_t max, uint64_t *start);

/* Give pages of a linked file back: they are clean, and will be read again if needed. */
void di_file_release(const struct di_file *f);

#endif
