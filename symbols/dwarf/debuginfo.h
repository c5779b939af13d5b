/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What DWARF says of an address: the source lines of code with their inline frames, the variable that owns a piece of memory,
 * and the structure member behind a register and a displacement. DWARF 4 and 5 are read, of a linked vmlinux or of a module
 * (.ko, .ko.debug).
 *
 * Work is done when it is asked for: opening reads the section table, and a query parses the one compilation unit that it
 * concerns. Parsed units are kept in a cache of fixed size. Files are mapped, not read: changing a file while it is open may
 * kill the process, as with any mapped file.
 *
 * Addresses in and out are run-time addresses: see debuginfo_slide() and debuginfo_place(). One debuginfo must not be used by
 * several threads at once; different debuginfos are independent. Every const char * that is given out lives as long as its
 * debuginfo.
 *
 * Every query returns the number of things found, and 0 when the file knows nothing of the address. It returns -1 with
 * EXIT_INPUT in err when the DWARF that it needs is corrupt (the next query may still succeed), or with EXIT_INTERNAL when
 * memory is out.
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
 * Open an x86-64 ELF file with DWARF. NULL with EXIT_INPUT when the file is none, is truncated or has no .debug_info, or with
 * EXIT_INTERNAL when memory is out.
 *
 * The relocations of a relocatable file's debug sections are applied in a private copy, when a section is first needed. Those
 * of a linked file (a Debian vmlinux keeps .rela.debug_*) are never applied, because its link editor has done so.
 */
struct debuginfo *debuginfo_open(const char *path, struct err *err);

/* Close the file. `di` may be NULL. */
void debuginfo_close(struct debuginfo *di);

/*
 * Say how far a linked file was moved in memory: `slide` is added to all its link addresses. Its per-CPU section is the
 * exception. An address below that section's size is a per-CPU offset: it means the variable at that offset, of no particular
 * CPU.
 */
void debuginfo_slide(struct debuginfo *di, uint64_t slide);

/*
 * Say at which GVA a section of a module is in memory. Sections are placed one by one, by their names, as in
 * /sys/module/NAME/sections. Nothing is ever found in a section that was not placed. Place the sections again when the module
 * was loaded again. Returns 0, or -1 when the file has no such section or is not relocatable.
 */
int debuginfo_place(struct debuginfo *di, const char *section, uint64_t addr);

/* An inline frame, or the function that the code is in. */
struct debuginfo_frame {
	const char *function; /* NULL: not known (assembler without symbols). */
	const char *file;     /* As the compiler was told it, directory included. NULL: there is no line information. */
	const char *comp_dir; /* The directory that a relative `file` is relative to; may be NULL. */
	unsigned line;	      /* 0: none. */
	unsigned column;      /* 0: none. */
	bool inlined;	      /* The function was inlined into the next frame. */
};

/*
 * Find the source lines of the code at GVA `pc`. frames[0] is the function that the instruction comes from; each further frame
 * is the function that the one before was inlined into. For a return address ask for pc - 1. (DWARF 5 sections 3.3.8 and 6.2;
 * compare eu-addr2line -f -i.)
 */
int debuginfo_lines(struct debuginfo *di, uint64_t pc, struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES], struct err *err);

/* How well an access fits what a datum's path names. */
enum debuginfo_fit {
	DEBUGINFO_FIT_NONE,   /* Not determined yet. No datum that is given out has this. */
	DEBUGINFO_FIT_LOOSE,  /* The access is to more than the path names, or the path is a guess. */
	DEBUGINFO_FIT_INSIDE, /* The access is to a part of what the path names. */
	DEBUGINFO_FIT_EXACT,  /* The access is to exactly what the path names. */
};

/*
 * A piece of data that is accessed. The path begins with a variable and leads to the datum: it is a member of the variable
 * itself, or of the pointee, which is the object that the variable points to.
 */
struct debuginfo_datum {
	const char *variable;		 /* Name of the variable that the path begins with. */
	const char *function;		 /* The function whose local or static variable it is. NULL: global or file scope. */
	char path[DEBUGINFO_PATH_MAX];	 /* As C writes it: "tcp_hashinfo.ehash_mask", "inode->i_nlink", "table[3].next". */
	char member[DEBUGINFO_PATH_MAX]; /* The path's part below the variable or pointee: "i_nlink". It may be "". */
	char owner[DEBUGINFO_TYPE_MAX];	 /* Type of the variable or pointee: "struct inode". */
	char type[DEBUGINFO_TYPE_MAX];	 /* Type of what the path names: "unsigned int". "": not known. */
	uint64_t start;			 /* GVA of the variable or pointee. 0 in a datum found by a register. */
	uint64_t offset;		 /* Bytes from the beginning of the variable or pointee to the access. */
	uint64_t size;			 /* Bytes of what the path names. 0: not known. */
	uint64_t rest;			 /* Bytes from the beginning of what the path names to the access. */
	unsigned bit_offset;		 /* First bit of a bit-field, counted from bit 0 of byte offset - rest. */
	unsigned bit_size;		 /* Bits of a bit-field. 0: the path names no bit-field. */
	uint64_t owner_id;   /* Type of the variable or pointee without typedefs, for debuginfo_member(). 0: void. */
	uint64_t owner_size; /* Bytes of the variable or pointee. 0: not known. */
	uint64_t type_id;    /* Type of what the path names, for debuginfo_value(). 0: void, or several bit-fields. */
	enum debuginfo_fit fit;
};

/*
 * Find the global or static variable that contains the `size` bytes at GVA `addr`, and its member there. Size 0 is taken as 1.
 * Returns 1 or 0.
 *
 * Where several members share the bytes (a union, a byte of several bit-fields), the path names the one that `size` fits best.
 * Where several bit-fields share the bytes of the access, it names them all: "flags.{on,off}".
 */
int debuginfo_variable_at(struct debuginfo *di, uint64_t addr, size_t size, struct debuginfo_datum *out, struct err *err);

/*
 * Find what an instruction at GVA `pc` accesses through the register `reg`. `disp` is the accessed address less the register's
 * value, so it includes the part of an index register. `size` is in bytes. Up to `max` data are written to `out`.
 *
 * Looked at are the variables and parameters in scope, those of inlined functions too, whose location lists put them at `pc`
 * into that register, or at a constant distance from it, and that point to a complete type. The best datum comes first: a
 * member that the access fits before one that it does not fit, then the larger pointee, because it says more, then the inner
 * scope.
 */
int debuginfo_datum(struct debuginfo *di, uint64_t pc, enum x86_gpr reg, int64_t disp, size_t size, struct debuginfo_datum *out,
		    size_t max, struct err *err);

/*
 * Find the member at byte `offset` of a type, which is the owner_id of a datum of this debuginfo, that an access of `size`
 * bytes is to. Size 0 is taken as 1. Filled in is what says something of the type: its name without typedefs in `owner`, and
 * not variable, function and path. Returns 1, or 0 when the offset is outside of the type.
 */
int debuginfo_member(struct debuginfo *di, uint64_t owner_id, uint64_t offset, size_t size, struct debuginfo_datum *out,
		     struct err *err);

#define DEBUGINFO_VALUE_MAX 96

/*
 * Write down a value of the datum as its type wants it: "-1", "0x1f", "true", "'a'", an enumerator "PIDTYPE_PGID", several
 * enumerators of one bit each "FL_A|FL_B", or a pointer "0xffff888100042000". Signed numbers are decimal; unsigned ones are
 * decimal up to 9, and hexadecimal above. *is_pointer says whether the value is a pointer, so that the caller may find out more
 * about it.
 *
 * `bytes` are the `size` bytes from the beginning of the access on. Returns 1; or 0 when the datum is no scalar, or the bytes
 * are only a part of one.
 */
int debuginfo_value(struct debuginfo *di, const struct debuginfo_datum *datum, const uint8_t *bytes, size_t size,
		    char text[DEBUGINFO_VALUE_MAX], bool *is_pointer, struct err *err);

#endif
