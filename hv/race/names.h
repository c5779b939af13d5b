/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What debug files say of one race: source lines of every call, with the functions inlined there, and the name of the datum.
 * Plain data: hv/report/naming fills it in, the JSON file keeps it, text and exports show it.
 */
#ifndef OUTRIDER_RACE_NAMES_H
#define OUTRIDER_RACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "symbols/dwarf/debuginfo.h"

#define SOURCE_FUNCTION_MAX 128
#define SOURCE_FILE_MAX 256

/*
 * A line of source. A call has several where functions were inlined: the innermost function comes first, and the last one is
 * not inlined.
 */
struct source_line {
	/* Index of the race's side that the line belongs to. */
	uint8_t side;
	/* Index in that side's calls of the call that the line belongs to. */
	uint8_t frame;
	/* The function is inlined into the function of the next line. */
	bool inlined;
	/* Line number. 0: not known. */
	unsigned line;
	/* Column number. 0: not known. */
	unsigned column;
	/* Name of the function. "": not known. */
	char function[SOURCE_FUNCTION_MAX];
	/* Path of the source file, relative to the source tree if the compiler was told so. "": not known. */
	char file[SOURCE_FILE_MAX];
};

/* How a datum's name was found. */
enum datum_by {
	DATUM_UNNAMED,
	/* A global or static variable is at the datum's address. */
	DATUM_BY_VARIABLE,
	/* The base register of the accessing instruction holds this variable. */
	DATUM_BY_REGISTER,
};

/* What one side's code calls the datum. */
struct datum_name {
	/* enum datum_by. With DATUM_UNNAMED nothing else is set. */
	uint8_t by;
	/* The access is not exactly to what the path names. */
	bool guess;
	/* The datum as a programmer writes it in that function: "inode->i_nlink". */
	char path[DEBUGINFO_PATH_MAX];
	/* Name of the variable. */
	char variable[SOURCE_FUNCTION_MAX];
	/* Type of the variable, or of what it points to: "struct inode". */
	char owner[DEBUGINFO_TYPE_MAX];
	/* The part of the owner: "i_nlink". "": the datum is the whole of it. */
	char member[DEBUGINFO_PATH_MAX];
	/* Type of what is named: "unsigned int". "": not known. */
	char type[DEBUGINFO_TYPE_MAX];
	/* Position of a bit-field, in bits from bit 0 of the access's first byte. */
	unsigned bit_offset;
	/* Width of a bit-field. 0: the datum is no bit-field. */
	unsigned bit_size;
	/* Position in the owner, in bytes. */
	uint64_t offset;
	/* The value before the conflict, written as the type wants it. "": it could not be decoded. */
	char before[DEBUGINFO_VALUE_MAX + 64];
	/* The value after the conflict, in the same way. */
	char after[DEBUGINFO_VALUE_MAX + 64];
};

/* The source line of one instruction in a side's code. */
struct code_line {
	/* Index of the race's side. */
	uint8_t side;
	/* Offset of the instruction in that side's code, in bytes. */
	uint16_t at;
	/* Index of the file in the names' files. */
	unsigned file;
	/* Line number. */
	unsigned line;
};

struct race_names {
	/* What each side's code calls the datum. */
	struct datum_name datum[2];
	/* Index of the one of the two that says more. */
	uint8_t best;
	/* How many lines there are. */
	size_t count;
	/* How many lines there is room for. */
	size_t room;
	/* The source lines, ordered by side and frame. */
	struct source_line *lines;
	/* How many lines of single instructions there are. 0 unless naming was asked for them. */
	size_t code_count;
	/* The source lines of single instructions around the accesses. No report keeps them. */
	struct code_line *code;
	/* How many files these lines are in. */
	size_t file_count;
	/* The paths of these files, written as those of the other lines. */
	char (*files)[SOURCE_FILE_MAX];
};

/* A type without what qualifies it: of "const struct inode" that is "struct inode". Returns a part of `type`. */
const char *datum_unqualified(const char *type);

/* Free the names and all lines. NULL is allowed. */
void race_names_free(struct race_names *names);

/* The source lines of one call, innermost first, and in *n how many there are. NULL and 0: none are known. `names` may be NULL.
 */
const struct source_line *race_names_lines(const struct race_names *names, unsigned side, unsigned frame, size_t *n);

/*
 * Room for one more line, zeroed, at the end. It is valid until the next call. NULL with EXIT_INTERNAL: memory ran out.
 */
struct source_line *race_names_add(struct race_names *names, struct err *err);

/*
 * Add the source line of an instruction: line `line`, which is not 0, of `file`. 0, or -1 with EXIT_INTERNAL: memory ran out.
 */
int race_names_add_code(struct race_names *names, unsigned side, uint16_t at, const char *file, unsigned line, struct err *err);

/*
 * The source line of the instruction at offset `at` of a side's code, and its file in *file, which belongs to the names. 0 and
 * NULL: none is known. `names` may be NULL.
 */
unsigned race_names_code(const struct race_names *names, unsigned side, uint16_t at, const char **file);

/* Let `to` have the lines of single instructions that `from` has. `from` has none then. */
void race_names_move_code(struct race_names *to, struct race_names *from);

#endif
