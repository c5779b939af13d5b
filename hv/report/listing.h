/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code around a side's access as instructions, for people, each with the source line that it was compiled from. Plain data:
 * text reports and exports show it, each in its own way.
 */
#ifndef OUTRIDER_REPORT_LISTING_H
#define OUTRIDER_REPORT_LISTING_H

#include "hv/base/err.h"
#include "hv/race/race.h"
#include "hv/report/around.h"
#include "symbols/files/sources.h"
#include "symbols/insn/text.h"

#define LISTING_PLACE_MAX 24 /* bytes, with the NUL, as the two below */
#define LISTING_TEXT_MAX INSN_TEXT_MAX
#define LISTING_SOURCE_MAX 160

/* One instruction. All strings are printable ASCII, whatever the guest's symbols and the source files are made of. */
struct listing_line {
	/* Where the instruction is: "+0x1c" in the side's function, or its address if the function is not known. */
	char place[LISTING_PLACE_MAX];
	/* "mov    0x10(%rdi),%eax". A direct call or jump has the name of what it goes to, where that is known. */
	char text[LISTING_TEXT_MAX];
	/* This is the accessing instruction; or, where that could not be told, the vCPU stopped before this one. */
	bool access;
	/* The source file: "fs/inode.c". NULL: it is not known. It belongs to the race. */
	const char *file;
	/* Line number, of which `source` is the text. 0: not known. */
	unsigned line;
	/* The line is that of the instruction before, too. */
	bool same_line;
	/* The text of the source line without the blanks around it. "": the source is not at hand. */
	char source[LISTING_SOURCE_MAX];
};

struct listing {
	/* How many instructions there are. 0: the code was not kept, or is none. */
	unsigned count;
	/* False: the accessing instruction could not be told. */
	bool access_known;
	struct listing_line lines[AROUND_MAX];
};

/* What makes listings. One thread at a time may use it. */
struct listing_maker;

/* `sources` must outlive the maker, and may be NULL. NULL with EXIT_INTERNAL: memory ran out. */
struct listing_maker *listing_maker_new(struct sources *sources, struct err *err);

/* `m` may be NULL. */
void listing_maker_free(struct listing_maker *m);

/*
 * Make the listing of side `which` of a race. `out` is valid as long as the race. Source lines come from the race's names: that
 * of the access always, those of the other instructions if naming was asked for them (struct naming, code_lines).
 */
void listing_make(struct listing_maker *m, const struct race *race, unsigned which, struct listing *out);

#endif
