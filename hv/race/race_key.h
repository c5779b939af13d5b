/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The identity of a race: what stays the same in every build of the kernel. A race's id has the offsets of two instructions, so
 * it changes with each build; the identity has the functions, the kinds of access and the datum. docs/campaigns.md gives the
 * reasons, and docs/report-format.md says what is promised.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_RACE_RACE_KEY_H
#define OUTRIDER_RACE_RACE_KEY_H

#include <stdbool.h>

#include "hv/race/race.h"

/* Bytes of a datum's name or place, including the NUL: a type or variable, a dot, and a member. */
#define RACE_KEY_DATUM_MAX (DEBUGINFO_TYPE_MAX + DEBUGINFO_PATH_MAX + 8)

struct race_key_side {
	/*
	 * Name of the function, without the suffixes that compilers append. "raw" or "image+0x..." for code without a symbol;
	 * "unknown" for an unseen writer; "virtio-blk:read" for a device.
	 */
	char function[SITE_NAME_MAX];
	/* Name of the module that contains the function. "": the kernel itself, or the side is not an access by a CPU. */
	char module[64];
	/* "read", "write" (also for a read-modify-write), or "access" if unknown. */
	const char *kind;
	/* Which side of the race this is: 0 or 1. */
	unsigned side;
};

struct race_key {
	/* Both sides of the race, sorted by function, then module, then kind, then site, each in byte order. */
	struct race_key_side sides[2];
	/* The datum's name from debug files, as "struct rq.nr_running" or "jiffies_64". "": unknown. */
	char datum[RACE_KEY_DATUM_MAX];
	/*
	 * The datum's place, as "mount_lock+0" or "struct task_struct.flags". The place comes from the guest kernel's own
	 * symbols and BTF, so it is the same in reports with and without debug files. "": unknown.
	 */
	char place[RACE_KEY_DATUM_MAX];
	/* The race's identity: a hash of both sides and of the datum's name or, if the datum has no name, of its place. */
	char identity[RACE_ID_MAX];
	/*
	 * The race alias: the identity that the same race has in a report without debug files. "": there is no alias, because
	 * the datum has no name (then `identity` is the same in a report without debug files), or because the datum's place is
	 * unknown.
	 */
	char alias[RACE_ID_MAX];
};

/*
 * Returns the name to use in place of the function's name for a site without a symbol. The returned name contains no run-time
 * address, because addresses change with each boot. It is `site`, a part of it, or a constant.
 */
const char *race_key_nameless(const char *site);

/*
 * Returns the length, in characters, of a function's name without the suffixes that compilers append (".isra.0",
 * ".constprop.1", ".part.0", ".cold"), because the suffixes change with the build.
 */
int race_key_function_len(const char *name);

/* Compute the key of a race from its record, whose strings must be printable. */
void race_key(const struct race *race, struct race_key *out);

/*
 * printf() formats of the text whose hash is an identity. The store of a campaign has the parts of a key as strings of its own,
 * and makes the same text of them with these formats. The arguments of RACE_KEY_SIDES are kind, function and module of the
 * first side, then of the second. The arguments of RACE_KEY_TEXT are: the text of the sides; "at " if a place follows,
 * otherwise ""; and the datum's name, its place, or "?".
 */
#define RACE_KEY_SIDES "%s %s [%s] <-> %s %s [%s]"
#define RACE_KEY_TEXT "%s on %s%s"

/* Write the identity that is the hash of `text`, a text in the format RACE_KEY_TEXT. */
void race_key_identity(const char *text, char out[RACE_ID_MAX]);

#endif
