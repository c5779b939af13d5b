/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Disassembly of the code near a side's access, with the source line of each instruction. Plain data, which text reports and
 * exports print in their own ways.
 */
#ifndef OUTRIDER_REPORT_LISTING_H
#define OUTRIDER_REPORT_LISTING_H

#include "hv/base/err.h"
#include "hv/race/race.h"
#include "hv/report/nearby.h"
#include "symbols/files/sources.h"
#include "symbols/insn/text.h"

/* These three sizes are in bytes, including the NUL. */
#define LISTING_PLACE_MAX 24
#define LISTING_TEXT_MAX INSN_TEXT_MAX
#define LISTING_SOURCE_MAX 160

/* One instruction. All strings are printable ASCII, whatever bytes the guest's symbols and the source files contain. */
struct listing_line {
	/* The instruction's place: its offset in the side's function, "+0x1c", or its address if the function is unknown. */
	char place[LISTING_PLACE_MAX];
	/* The instruction as text: "mov 0x10(%rdi),%eax". A direct call or jump has the name of its target, if there is one. */
	char text[LISTING_TEXT_MAX];
	/* This is the accessing instruction or, if that is unknown, the instruction before which the vCPU stopped. */
	bool access;
	/* The source file: "fs/inode.c". NULL: unknown. Owned by the race. */
	const char *file;
	/* Line number of `source`. 0: unknown. */
	unsigned line;
	/* The previous instruction has the same source line. */
	bool same_line;
	/* Text of the source line, trimmed. "": the source file is not available. */
	char source[LISTING_SOURCE_MAX];
};

struct listing {
	/* Number of instructions. 0: the code was not recorded or cannot be decoded. */
	unsigned count;
	/* False: the accessing instruction is unknown. */
	bool access_known;
	struct listing_line lines[NEARBY_MAX];
};

/* Makes listings. One thread at a time may use it. */
struct listing_maker;

/*
 * Returns a maker of listings, or NULL with EXIT_INTERNAL if memory runs out. `sources` must outlive the maker; it may be NULL.
 */
struct listing_maker *listing_maker_new(struct sources *sources, struct err *err);

/* Free the maker. `m` may be NULL. */
void listing_maker_free(struct listing_maker *m);

/*
 * Make the listing of side `which` of a race. `out` is valid as long as the race. The source lines are those in race->names.
 * Names made with `code_lines` (struct naming) have the line of each instruction, other names only the line of the access.
 */
void listing_make(struct listing_maker *m, const struct race *race, unsigned which, struct listing *out);

#endif
