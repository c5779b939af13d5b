/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries by address on the DWARF of a linked vmlinux or a module (.ko, .ko.debug), version 4 or 5: the source lines of code
 * with inline frames, the variable at a data address, and the structure member at a register plus displacement.
 *
 * Work is lazy: opening reads the section table, and a query parses only the compilation units it needs. Parsed units are kept
 * in a cache of fixed size. Files are mapped: truncating an open file may kill the process, as with any mapped file.
 *
 * All addresses are run-time addresses: see debuginfo_slide() and debuginfo_place(). Not thread-safe: one thread at a time may
 * use a debuginfo; different debuginfos are independent. Every returned const char * lives as long as its debuginfo.
 *
 * Every query returns the number of results, which is 0 if the file has nothing about the address. A query returns -1 with
 * EXIT_INPUT in err if the DWARF that it needs is corrupt (a later query may still succeed), or with EXIT_INTERNAL if memory
 * runs out.
 */
#ifndef OUTRIDER_SYMBOLS_DWARF_DEBUGINFO_H
#define OUTRIDER_SYMBOLS_DWARF_DEBUGINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/x86.h"

struct debuginfo;

#define DEBUGINFO_MAX_FRAMES 64 /* frames of one chain of inlined functions */
#define DEBUGINFO_PATH_MAX 256	/* bytes, including the NUL */
#define DEBUGINFO_TYPE_MAX 128	/* bytes, including the NUL */

/*
 * Open an x86-64 ELF file with DWARF. Returns NULL with EXIT_INPUT if the file is not such a file, is truncated or has no
 * .debug_info, or with EXIT_INTERNAL if memory runs out.
 *
 * Relocations of a module's debug sections are applied to a private copy, when a section is first needed. Relocations of a
 * linked file (a Debian vmlinux keeps .rela.debug_*) are ignored: the linker has already applied them.
 */
struct debuginfo *debuginfo_open(const char *path, struct err *err);

/* Close the file. `di` may be NULL. */
void debuginfo_close(struct debuginfo *di);

/*
 * Set the distance in bytes by which a linked file was moved in memory: the run-time address is the link address plus `slide`.
 * The per-CPU section does not move: an address below that section's size is a per-CPU offset, and stands for the variable at
 * that offset on any CPU.
 */
void debuginfo_slide(struct debuginfo *di, uint64_t slide);

/*
 * Set the GVA of one section of a module, by the section's name as in /sys/module/NAME/sections. Queries find nothing in a
 * section that was not placed. After the module was reloaded, call this function again for all sections. Returns 0, or -1 if
 * the file is not relocatable, or no section of this name is in memory at run time.
 */
int debuginfo_place(struct debuginfo *di, const char *section, uint64_t addr);

/* One frame of an inline chain, or the function that contains the code. */
struct debuginfo_frame {
	const char *function; /* NULL: unknown (assembler without symbols). */
	const char *file;     /* Path of the source file, with the directory from the line table. NULL: no line information. */
	const char *comp_dir; /* The directory to which a relative `file` is relative; may be NULL. */
	unsigned line;	      /* 0: none. */
	unsigned column;      /* 0: none. */
	bool inlined;	      /* The function was inlined into the next frame. */
};

/*
 * Find the source lines of the code at GVA `pc`. frames[0] is the function of the instruction's source line; frames[n + 1] is
 * the function that frames[n] was inlined into. For a return address, pass pc - 1. (DWARF 5 sections 3.3.8 and 6.2; compare
 * eu-addr2line -f -i.)
 */
int debuginfo_lines(struct debuginfo *di, uint64_t pc, struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES], struct err *err);

/* How well the named datum matches an access. Higher is better. */
enum debuginfo_fit {
	DEBUGINFO_FIT_NONE,   /* Not determined yet; never in a result. */
	DEBUGINFO_FIT_LOOSE,  /* The access extends past the named datum, or the path is a guess. */
	DEBUGINFO_FIT_INSIDE, /* The access covers a part of the named datum. */
	DEBUGINFO_FIT_EXACT,  /* The access covers exactly the named datum. */
};

/*
 * A datum that an access touches. The path begins with a variable. The datum is a member of the variable itself, or of the
 * pointee: the object that the variable points to.
 */
struct debuginfo_datum {
	const char *variable;		 /* Variable that the path begins with. */
	const char *function;		 /* Function of a local or static variable. NULL: global or file scope. */
	char path[DEBUGINFO_PATH_MAX];	 /* In C syntax: "tcp_hashinfo.ehash_mask", "inode->i_nlink", "table[3].next". */
	char member[DEBUGINFO_PATH_MAX]; /* The path inside the variable or pointee: "i_nlink". It may be "". */
	char owner[DEBUGINFO_TYPE_MAX];	 /* Type of the variable or pointee: "struct inode". */
	char type[DEBUGINFO_TYPE_MAX];	 /* Type of the datum: "unsigned int". "": unknown. */
	uint64_t start;			 /* GVA of the variable or pointee. 0 if the datum was found by a register. */
	uint64_t offset;		 /* Bytes from the start of the variable or pointee to the access. */
	uint64_t size;			 /* Size of the datum in bytes. 0: unknown. */
	uint64_t rest;			 /* Bytes from the start of the datum to the access. */
	unsigned bit_offset;		 /* First bit of a bit-field, counted from bit 0 of the datum's first byte. */
	unsigned bit_size;		 /* Width of a bit-field. 0: the datum is not a bit-field. */
	uint64_t owner_id;   /* Type of the variable or pointee without typedefs, for debuginfo_member(). 0: void. */
	uint64_t owner_size; /* Size of the variable or pointee in bytes. 0: unknown. */
	uint64_t type_id;    /* Type of the datum, for debuginfo_value(). 0: void, or several bit-fields. */
	enum debuginfo_fit fit;
};

/*
 * Find the global or static variable that contains GVA `addr`, and the member that an access of `size` bytes there touches. The
 * access may extend past the variable (DEBUGINFO_FIT_LOOSE). Size 0 counts as 1. Returns 1 or 0.
 *
 * If several members overlap (in a union), the path names the one that matches `size` best. If several bit-fields share the
 * bytes of the access, the path lists them all: "flags.{on,off}".
 */
int debuginfo_variable_at(struct debuginfo *di, uint64_t addr, size_t size, struct debuginfo_datum *out, struct err *err);

/*
 * Find what an instruction at GVA `pc` accesses through the register `reg`. `disp` is the accessed address minus the register's
 * value, so it includes a scaled index. `size` is in bytes. Writes up to `max` data to `out` and returns how many.
 *
 * The query considers a variable or parameter in scope at `pc`, also of an inlined function, in two cases. Either its value is
 * the register plus a constant, and it points to a complete type. Or it lies in memory, at the register plus a constant. The
 * query also follows the register's value back through the function's code. Results in the object at a pointer come before
 * results in later elements (pointer[3]). Next, better matches come first (`fit`), then larger objects, since they name more
 * context, then inner scopes.
 */
int debuginfo_datum(struct debuginfo *di, uint64_t pc, enum x86_gpr reg, int64_t disp, size_t size, struct debuginfo_datum *out,
		    size_t max, struct err *err);

/*
 * Find the member at byte `offset` of a type that an access of `size` bytes touches. `owner_id` comes from a datum of this
 * debuginfo. Size 0 counts as 1. Fills in the fields of *out that describe the type and the member, with the type's name
 * without typedefs in `owner`; variable, function and path stay empty. Returns 1, or 0 if the offset is outside the type or
 * `owner_id` is 0.
 */
int debuginfo_member(struct debuginfo *di, uint64_t owner_id, uint64_t offset, size_t size, struct debuginfo_datum *out,
		     struct err *err);

#define DEBUGINFO_VALUE_MAX 96 /* bytes, including the NUL */

/*
 * Format a value of the datum according to its type: "-1", "0x1f", "true", "'a'", an enumerator "PIDTYPE_PGID", several one-bit
 * enumerators "FL_A|FL_B", or a pointer "0xffff888100042000". Signed numbers are decimal. Unsigned numbers are decimal up to 9,
 * and hexadecimal above. Sets *is_pointer if the value is a pointer, so that the caller can resolve it.
 *
 * `bytes` are the `size` bytes from the start of the access. Returns 1, or 0 if the datum is not scalar, or the bytes are only
 * a part of it.
 */
int debuginfo_value(struct debuginfo *di, const struct debuginfo_datum *datum, const uint8_t *bytes, size_t size,
		    char text[DEBUGINFO_VALUE_MAX], bool *is_pointer, struct err *err);

#endif
