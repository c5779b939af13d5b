/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What DWARF says of an address: source lines with their inline chain, the variable that owns a piece of memory, and the
 * structure member behind a register and a displacement. DWARF 4 and 5 of a linked vmlinux or of a module (.ko, .ko.debug).
 *
 * Lazy: opening reads the section table; a question parses the one compilation unit that it concerns. Parsed units are kept in
 * a cache of fixed size. Files are mapped, not read: one changed while it is open may kill the process, as with any mapped
 * file.
 *
 * Addresses in and out are run-time addresses: see debuginfo_slide() and debuginfo_place(). Not for several threads at once;
 * different debuginfos are independent. Every const char * given out lives as long as its debuginfo.
 *
 * Every query returns the number of things found, 0 when the file knows nothing of the address, or -1 with EXIT_INPUT in err
 * when the DWARF it needs is corrupt (the next query may still succeed) or EXIT_INTERNAL when memory is out.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_DEBUGINFO_H
#define OUTRIDER_SYMBOLS_DWARF_DEBUGINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/x86.h"

struct debuginfo;

#define DEBUGINFO_MAX_FRAMES 64
#define DEBUGINFO_PATH_MAX 256
#define DEBUGINFO_TYPE_MAX 128

/*
 * Open an x86-64 ELF file with DWARF. EXIT_INPUT: not one, truncated, or without .debug_info. Of a relocatable file, the
 * relocations of its debug sections are applied in a private copy as they are needed; a linked file's (a Debian vmlinux keeps
 * .rela.debug_*) are never: its link editor did.
 */
struct debuginfo *debuginfo_open(const char *path, struct err *err);
void debuginfo_close(struct debuginfo *di);

/*
 * Where the file is in memory. A linked file moves as a whole by `slide`, except its per-CPU section: an address below that
 * section's size (a per-CPU offset) means that variable of no particular CPU. A module's sections are placed one by one, by
 * their names, as in /sys/module/NAME/sections; what was not placed is never found. Place again when it was loaded again.
 * debuginfo_place: 0, or -1 when there is no such section or the file is not relocatable.
 */
void debuginfo_slide(struct debuginfo *di, uint64_t slide);
int debuginfo_place(struct debuginfo *di, const char *section, uint64_t addr);

struct debuginfo_frame {
	const char *function; /* NULL: not known (assembler without symbols) */
	const char *file;     /* as its compiler was told, directory included; NULL: no line information */
	const char *comp_dir; /* what a relative `file` is relative to; may be NULL */
	unsigned line;	      /* 0: none */
	unsigned column;      /* 0: none */
	bool inlined;	      /* inlined into the next frame */
};

/*
 * The code at `pc`: frames innermost first. frames[0] is where the instruction comes from, each further one where the one
 * before was inlined to. For a return address ask for pc - 1. (DWARF 5 sections 3.3.8 and 6.2; compare eu-addr2line -f -i.)
 */
int debuginfo_lines(struct debuginfo *di, uint64_t pc, struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES], struct err *err);

struct debuginfo_datum {
	const char *variable;		 /* the variable's name, or of the pointer that led there */
	const char *function;		 /* whose local or static variable it is; NULL: global or file scope */
	char path[DEBUGINFO_PATH_MAX];	 /* readable whole: "tcp_hashinfo.ehash_mask", "inode->i_nlink", "table[3].next" */
	char member[DEBUGINFO_PATH_MAX]; /* of it what is below the variable or pointee: "i_nlink"; may be "" */
	char owner[DEBUGINFO_TYPE_MAX];	 /* type of the variable or pointee: "struct inode" */
	char type[DEBUGINFO_TYPE_MAX];	 /* type of what the path names: "unsigned int"; "" if not known */
	uint64_t start;			 /* the variable's or pointee's run-time address; of a datum by register: 0 */
	uint64_t offset;		 /* of the first byte asked for, in the variable or pointee */
	uint64_t size;			 /* bytes of what the path names; 0: not known */
	uint64_t rest;			 /* first byte asked for, in what the path names (0: the access starts with it) */
	unsigned bit_offset, bit_size;	 /* a bit-field (bit_size != 0): its bits, from bit 0 of byte offset - rest */
	uint64_t type_id;		 /* of what the path names, for debuginfo_value(); 0: void, or several bit-fields */
	unsigned fit; /* 3: the access is exactly to what the path names; 2: to part of it; 1: to more than it, or a guess */
};

/*
 * The global or static variable that contains `size` bytes at `addr`, and the member there. Of several members (a union, a
 * byte of several bit-fields) the one that `size` fits best is named first; where several bit-fields share the bytes asked
 * for, the path names them all: "flags.{on,off}". size 0 is taken as 1. 1 or 0.
 */
int debuginfo_variable_at(struct debuginfo *di, uint64_t addr, size_t size, struct debuginfo_datum *out, struct err *err);

/*
 * The datum that an instruction at `pc` accesses through the register `reg`: `disp` is the accessed address less the register's
 * value (so it includes an index register's part), `size` is in bytes. Looked up are the variables and parameters in scope,
 * inlined ones too, that the location lists put at `pc` into that register (or at a constant distance from it) and that point
 * to a complete type. Best first: a member that the access fits before one it does not, then the larger pointee (it says more),
 * then the inner scope. Up to `max` of them.
 */
int debuginfo_datum(struct debuginfo *di, uint64_t pc, enum x86_gpr reg, int64_t disp, size_t size, struct debuginfo_datum *out,
		    size_t max, struct err *err);

#define DEBUGINFO_VALUE_MAX 96

/*
 * Write down a value of the datum as its type wants it: "-1", "0x1f", "true", "'a'", an enumerator "PIDTYPE_PGID" or several of
 * one bit each "FL_A|FL_B", a pointer "0xffff888100042000" with *is_pointer set, so that the caller may know more of it.
 * `bytes` are the `size` ones from the first byte asked for on. 1; or 0: no scalar, or only a part of one. Numbers are unsigned
 * as decimals up to 9, else hexadecimal; signed ones decimal.
 */
int debuginfo_value(struct debuginfo *di, const struct debuginfo_datum *datum, const uint8_t *bytes, size_t size,
		    char text[DEBUGINFO_VALUE_MAX], bool *is_pointer, struct err *err);

#endif
