/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF side of a debug file: its mapped sections and its symbol table. Private to symbols/dwarf/ and symbols/files/. A
 * compressed section is inflated, and a module's debug section relocated, on first use. Everything in the file is untrusted.
 *
 * There are two kinds of address. The DWARF uses link addresses, and callers use run-time addresses. The sections of a
 * relocatable file all begin at address 0. So this component assigns them distinct link addresses, and relocates the DWARF to
 * these addresses.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_FILE_H
#define OUTRIDER_SYMBOLS_DWARF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

#define DI_BUILD_ID_MAX 64 /* bytes */

struct di_section {
	char *name;
	/*
	 * The section's content, in the mapped file or in `inflated`. NULL: the file does not have it (.bss, stripped), or it
	 * is corrupt.
	 */
	uint8_t *bytes;
	uint64_t size;	       /* Bytes. */
	uint8_t *inflated;     /* The bytes of a compressed section, after its first use; otherwise NULL. */
	uint64_t link;	       /* Link address. */
	uint64_t run;	       /* Run-time address, valid if `placed`. */
	uint32_t type;	       /* sh_type of the ELF section header. */
	uint32_t link_section; /* sh_link. */
	uint32_t info_section; /* sh_info. */
	bool alloc;	       /* The section is in memory when the program runs (SHF_ALLOC). */
	bool placed;	       /* `run` is valid. */
	bool compressed;       /* The section is compressed in the file. */
	bool ready;	       /* The section has been inflated and relocated as needed. */
};

struct di_file {
	char *path;
	uint8_t *map;		     /* The whole file, a private mapping. */
	size_t map_size;	     /* Bytes. */
	bool relocatable;	     /* The file is a module, not linked. */
	struct di_section *sections; /* Indexed by section number. [0] is empty. */
	size_t count;		     /* Number of sections. */
	uint64_t percpu_size;	     /* Size in bytes of a linked kernel's per-CPU section, which is at address 0. 0: none. */
	uint64_t slide;		     /* Run-time address minus link address, in a linked file. */
	uint8_t build_id[DI_BUILD_ID_MAX];
	size_t build_id_len; /* Bytes. 0: the file has no GNU build id. */
};

/*
 * Open, map and check a file. Returns 0. Returns -1 with EXIT_INPUT if the file is unusable, or with EXIT_INTERNAL if memory
 * runs out; `f` is then closed.
 */
int di_file_open(struct di_file *f, const char *path, struct err *err);

/* Unmap the file and free its sections. A closed or zeroed `f` is allowed. */
void di_file_close(struct di_file *f);

/* Returns true if the file has DWARF: a non-empty section .debug_info. */
bool di_file_has_dwarf(const struct di_file *f);

/*
 * Returns the section `name`, inflated and relocated. Returns NULL if the file has no bytes of such a section, or with err set
 * if the section is corrupt or memory runs out.
 */
struct di_section *di_file_section(struct di_file *f, const char *name, struct err *err);

/*
 * Returns the `len` bytes of code at link address `addr`, relocated. Returns NULL without an error if the file lacks them, and
 * NULL with err set on an error.
 */
const uint8_t *di_file_code(struct di_file *f, uint64_t addr, uint64_t len, struct err *err);

/*
 * Convert a run-time address to a link address. Returns false if, in a relocatable file, no section that is in the guest's
 * memory contains the address. Always succeeds for a linked file: the address may also lie outside of the file.
 */
bool di_file_to_link(const struct di_file *f, uint64_t run, uint64_t *link);

/*
 * Convert a link address to a run-time address. Returns false if, in a relocatable file, no section that is in the guest's
 * memory contains the address. Always succeeds for a linked file.
 */
bool di_file_to_run(const struct di_file *f, uint64_t link, uint64_t *run);

/*
 * Returns the name of the function symbol that contains link address `addr`, or NULL. Scans the symbol table: an index would
 * take memory, and scanning 100,000 symbols takes less than a millisecond.
 */
const char *di_file_function(const struct di_file *f, uint64_t addr);

/*
 * Returns the name of the function that a call instruction calls, or NULL if it is unknown. The instruction's four-byte operand
 * is at link address `operand` and resolves to link address `target`.
 */
const char *di_file_call(const struct di_file *f, uint64_t operand, uint64_t target);

/*
 * Find the data symbols that contain link address `addr`. If they begin at different addresses, use only the symbols with the
 * highest start. Sets *start to that address, writes up to `max` names to `names`, and returns their number.
 */
size_t di_file_objects(const struct di_file *f, uint64_t addr, const char **names, size_t max, uint64_t *start);

/* Drop the resident pages of a linked file. They are clean, and are read again on the next access. */
void di_file_release(const struct di_file *f);

#endif
