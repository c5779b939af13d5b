/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What debug files say of one race: source lines with their inline chains for every call, and the datum by name. Plain data:
 * naming.h fills it in, the JSON file keeps it, text and exports show it.
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

/* A line of source. Of one call there are several where functions were inlined: innermost first, the last is not inlined. */
struct source_line {
	uint8_t side;			    /* of the race, */
	uint8_t frame;			    /* the index in the side's calls, which this line is of */
	bool inlined;			    /* into the next line */
	unsigned line, column;		    /* 0: not known */
	char function[SOURCE_FUNCTION_MAX]; /* "": not known */
	char file[SOURCE_FILE_MAX];	    /* relative to the source tree if its compiler was told so; "": not known */
};

/* How a datum's name was found. */
enum datum_by {
	DATUM_UNNAMED,
	DATUM_BY_VARIABLE, /* a global or static variable is at its address */
	DATUM_BY_REGISTER, /* the accessing instruction's base register holds this variable */
};

struct datum_name {
	uint8_t by;		       /* enum datum_by; DATUM_UNNAMED: nothing below is set */
	bool guess;		       /* the access is not exactly to what the path names */
	char path[DEBUGINFO_PATH_MAX]; /* as a programmer says it there: "inode->i_nlink" */
	char variable[SOURCE_FUNCTION_MAX];
	char owner[DEBUGINFO_TYPE_MAX];	 /* type of the variable or pointee: "struct inode" */
	char member[DEBUGINFO_PATH_MAX]; /* "i_nlink"; may be "" */
	char type[DEBUGINFO_TYPE_MAX];	 /* of what is named: "unsigned int"; may be "" */
	unsigned bit_offset, bit_size;	 /* of a bit-field, from bit 0 of the access's first byte; size 0: none */
	uint64_t offset;		 /* bytes into the owner */
	char before[DEBUGINFO_VALUE_MAX + 64], after[DEBUGINFO_VALUE_MAX + 64]; /* decoded by the type; may be "" */
};

struct race_names {
	struct datum_name datum[2]; /* as each side's code calls it */
	uint8_t best;		    /* of the two, which says more */
	size_t count, room;
	struct source_line *lines; /* ordered by side and frame */
};

/* An owner or type without what qualifies it: "const struct inode" is a struct inode all the same. */
const char *datum_unqualified(const char *type);

void race_names_free(struct race_names *names);

/* The lines of one call, and how many; NULL and 0: none are known. */
const struct source_line *race_names_lines(const struct race_names *names, unsigned side, unsigned frame, size_t *n);

/* Room for one more line at the end. NULL with EXIT_INTERNAL: out of memory. */
struct source_line *race_names_add(struct race_names *names, struct err *err);

#endif
