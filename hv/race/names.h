/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What debug files say about one race: the source lines of every frame with the functions inlined there, and the name of the
 * datum. Plain data: hv/report/naming fills it in, the JSON report stores it, and the text report and exports show it.
 */
#ifndef OUTRIDER_RACE_NAMES_H
#define OUTRIDER_RACE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "symbols/dwarf/debuginfo.h"

#define SOURCE_FUNCTION_MAX 128 /* bytes, including the NUL */
#define SOURCE_FILE_MAX 256	/* bytes, including the NUL */

/*
 * A source line of a frame. A frame with inlined functions has several lines: the innermost function first, and last the
 * function that is not inlined.
 */
struct source_line {
	/* Index of the race's side. */
	uint8_t side;
	/* Index of the frame in that side's calls. */
	uint8_t frame;
	/* The function is inlined into the function of the next line. */
	bool inlined;
	/* Line number. 0: unknown. */
	unsigned line;
	/* Column number. 0: unknown. */
	unsigned column;
	/* Function name. "": unknown. */
	char function[SOURCE_FUNCTION_MAX];
	/* Path of the source file as the compiler recorded it, usually relative to the source tree. "": unknown. */
	char file[SOURCE_FILE_MAX];
};

/* How the name of a datum was found. */
enum datum_by {
	DATUM_UNNAMED,
	/* The name comes from the global or static variable at the datum's address. */
	DATUM_BY_VARIABLE,
	/* The name comes from the variable in the base register of the accessing instruction. */
	DATUM_BY_REGISTER,
};

/* The name of the datum in one side's code. */
struct datum_name {
	/* enum datum_by. If it is DATUM_UNNAMED, no other field is set. */
	uint8_t by;
	/* The access does not match the named datum exactly. */
	bool guess;
	/* The datum as a C expression in the side's function: "inode->i_nlink". */
	char path[DEBUGINFO_PATH_MAX];
	/* The variable that the path begins with. */
	char variable[SOURCE_FUNCTION_MAX];
	/* Type of the variable or of its pointee: "struct inode". */
	char owner[DEBUGINFO_TYPE_MAX];
	/* Member of the owner: "i_nlink". "": the datum is the whole owner. */
	char member[DEBUGINFO_PATH_MAX];
	/* Type of the datum: "unsigned int". "": unknown. */
	char type[DEBUGINFO_TYPE_MAX];
	/* Position of a bit-field: bits from bit 0 of the access's first byte. */
	unsigned bit_offset;
	/* Width of a bit-field in bits. 0: the datum is not a bit-field. */
	unsigned bit_size;
	/* Offset in the owner, in bytes. */
	uint64_t offset;
	/* The value before the conflict, formatted according to the type. "": it could not be decoded. */
	char before[DEBUGINFO_VALUE_MAX + 64];
	/* The value after the conflict, formatted in the same way. */
	char after[DEBUGINFO_VALUE_MAX + 64];
};

/* The source line of one instruction in a side's code. */
struct code_line {
	/* Index of the race's side. */
	uint8_t side;
	/* Offset of the instruction in that side's `code`, in bytes. */
	uint16_t at;
	/* Index into `files` of struct race_names. */
	unsigned file;
	/* Line number. */
	unsigned line;
};

struct race_names {
	/* The name of the datum in each side's code. */
	struct datum_name datum[2];
	/* Index of the more informative name in `datum`. */
	uint8_t best;
	size_t count;
	/* The source lines, sorted by side and frame. */
	struct source_line *lines;
	/* Number of entries in `code`. 0 unless hv/report/naming was asked for the source lines of single instructions. */
	size_t code_count;
	/* The source lines of single instructions near the accesses. Not stored in reports. */
	struct code_line *code;
	size_t file_count;
	/* The paths of the files that `code` refers to, in the same form as source_line.file. */
	char (*files)[SOURCE_FILE_MAX];
};

/* Skip the qualifiers of a type: "const struct inode" becomes "struct inode". Returns a pointer into `type`. */
const char *datum_unqualified(const char *type);

/* Free the names with all lines. `names` may be NULL. */
void race_names_free(struct race_names *names);

/*
 * Returns the source lines of one frame, innermost first, and their number in *n. Returns NULL and sets *n to 0 if none are
 * known. `names` may be NULL.
 */
const struct source_line *race_names_lines(const struct race_names *names, unsigned side, unsigned frame, size_t *n);

/*
 * Returns the one source line that represents the access of a side in short forms of a race: the innermost line outside of
 * headers, otherwise the outermost line. An inlined helper of a header, such as read_seqcount_begin(), has the same line for
 * all its callers, so this line does not tell where the race is. Returns NULL if no line has a known file and number. `names`
 * may be NULL.
 */
const struct source_line *race_names_place(const struct race_names *names, unsigned side);

/*
 * Append a zeroed line and return it. The returned line is valid until the next call. Returns NULL with EXIT_INTERNAL if memory
 * runs out.
 */
struct source_line *race_names_add(struct race_names *names, struct err *err);

/*
 * Add the source line of the instruction at offset `at` of a side's code: line `line` of `file`. `line` must not be 0. Returns
 * 0, or -1 with EXIT_INTERNAL if memory runs out.
 */
int race_names_add_code(struct race_names *names, unsigned side, uint16_t at, const char *file, unsigned line, struct err *err);

/*
 * Returns the number of the source line of the instruction at offset `at` of a side's code, and sets *file to the path of the
 * source file, which `names` owns. Returns 0 and sets *file to NULL if the line is unknown. `names` may be NULL.
 */
unsigned race_names_code(const struct race_names *names, unsigned side, uint16_t at, const char **file);

/* Move the lines of single instructions from `from` to `to`, replacing those of `to`. */
void race_names_move_code(struct race_names *to, struct race_names *from);

#endif
