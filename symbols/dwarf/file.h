/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF side of a debug file: its sections, which are mapped, and its symbol table. Private to symbols/dwarf/ and
 * symbols/files/. A compressed section is inflated, and a module's debug section relocated, when it is first asked for.
 * Everything in the file is untrusted.
 *
 * There are two kinds of address. Link addresses are those that the DWARF uses; run-time addresses are those that callers use.
 * The sections of a relocatable file all begin at address 0. They are given link addresses of our own, apart from each other,
 * and the DWARF is relocated to these.
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
	uint8_t *bytes;	       /* In the map or in `inflated`. NULL: the file has none (.bss, stripped), or they are corrupt. */
	uint64_t size;	       /* Bytes. */
	uint8_t *inflated;     /* The bytes of a compressed section, once it was asked for. NULL: none. */
	uint64_t link;	       /* Link address. */
	uint64_t run;	       /* Run-time address, if `placed`. */
	uint32_t type;	       /* sh_type of the ELF section header. */
	uint32_t link_section; /* sh_link. */
	uint32_t info_section; /* sh_info. */
	bool alloc;	       /* The section is in memory when the program runs (SHF_ALLOC). */
	bool placed;	       /* `run` is known. */
	bool compressed;       /* The file has the section compressed. */
	bool ready;	       /* The section was inflated and relocated as needed. */
};

struct di_file {
	char *path;
	uint8_t *map;		     /* The whole file, a private mapping. */
	size_t map_size;	     /* Bytes. */
	bool relocatable;	     /* The file is a module, and not linked. */
	struct di_section *sections; /* By section number; [0] is empty. */
	size_t count;		     /* The number of sections. */
	uint64_t percpu_size;	     /* Bytes of a linked kernel's per-CPU section at address 0. 0: there is none. */
	uint64_t slide;		     /* Run-time address less link address, in a linked file. */
	uint8_t build_id[DI_BUILD_ID_MAX];
	size_t build_id_len; /* Bytes. 0: the file has no GNU build id. */
};

/*
 * Open, map and check a file. -1 with EXIT_INPUT when it cannot be used or with EXIT_INTERNAL when memory is out; `f` is then
 * closed.
 */
int di_file_open(struct di_file *f, const char *path, struct err *err);
void di_file_close(struct di_file *f);

/* Whether the file has DWARF: bytes of a section .debug_info. */
bool di_file_has_dwarf(const struct di_file *f);

/*
 * The section of that name, inflated and relocated. NULL when the file has no bytes of such a section, or with err set when it
 * is corrupt.
 */
struct di_section *di_file_section(struct di_file *f, const char *name, struct err *err);

/* The `len` bytes of code at link address `addr`, relocated. NULL when they are not in the file, or with err set. */
const uint8_t *di_file_code(struct di_file *f, uint64_t addr, uint64_t len, struct err *err);

/* Apply the relocations of section number `index` of a relocatable file to the section's bytes. -1 with EXIT_INPUT. */
int di_file_relocate(struct di_file *f, size_t index, struct err *err);

/* From a run-time address to the link address. Returns false when no part of this file is there. */
bool di_file_to_link(const struct di_file *f, uint64_t run, uint64_t *link);

/* From a link address to the run-time address. Returns false when no part of this file is there. */
bool di_file_to_run(const struct di_file *f, uint64_t link, uint64_t *run);

/*
 * Name of the function symbol that contains link address `addr`, or NULL. This scans the symbol table: there is no index that
 * would take memory, and a scan of 100,000 symbols takes less than a millisecond.
 */
const char *di_file_function(const struct di_file *f, uint64_t addr);

/*
 * Name of the function that a call instruction calls. The instruction's four-byte operand is at link address `operand`, and it
 * comes to link address `target`. NULL: not known.
 */
const char *di_file_call(const struct di_file *f, uint64_t operand, uint64_t target);

/*
 * Find the data symbols that contain link address `addr` and begin last. Their common address goes to *start, and up to `max`
 * names go to `names`. Returns the number of names.
 */
size_t di_file_objects(const struct di_file *f, uint64_t addr, const char **names, size_t max, uint64_t *start);

/* Give the pages of a linked file back to the kernel. They are clean, and are read again when they are needed. */
void di_file_release(const struct di_file *f);

#endif
