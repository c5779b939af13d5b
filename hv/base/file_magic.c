// SPDX-License-Identifier: GPL-2.0-or-later
/* Tells from the first bytes of a file what it is, for a message to a user who gave a file of the wrong kind. */
#include "hv/base/file_magic.h"

#include <string.h>

/*
 * For each kind of file: the bytes that each file of this kind begins with, their number, and what file_magic() returns. The
 * bytes are from RFC 1952 (gzip), RFC 8878 (zstd), xz-file-format.txt, and sqlite.org/fileformat.
 */
static const struct {
	const char *begin;
	size_t len;
	struct file_magic magic;
} kinds[] = {
	{"\x1f\x8b", 2, {"compressed by gzip", "zcat", NULL}},
	{"\xfd"
	 "7zXZ\0",
	 6,
	 {"compressed by xz", "xzcat", NULL}},
	{"\x28\xb5\x2f\xfd", 4, {"compressed by zstd", "zstdcat", NULL}},
	{"BZh", 3, {"compressed by bzip2", "bzcat", NULL}},
	{"SQLite format 3\0",
	 16,
	 {"an SQLite file, for example the store of a campaign", NULL,
	  "`outrider campaign show --store FILE` shows what the store of a campaign has"}},
	{"\x7f"
	 "ELF",
	 4,
	 {"an ELF file: a program, a kernel or a debug file", NULL, "debug files are for --symbols"}},
};

const struct file_magic *file_magic(const void *bytes, size_t len)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (len >= kinds[i].len && memcmp(bytes, kinds[i].begin, kinds[i].len) == 0)
			return &kinds[i].magic;
	}
	return NULL;
}
