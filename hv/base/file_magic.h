/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells from the first bytes of a file what it is, for a message to a user who gave a file of the wrong kind. The answer is
 * never a reason to accept a file: the parser of the file checks the whole file.
 */
#ifndef OUTRIDER_BASE_FILE_MAGIC_H
#define OUTRIDER_BASE_FILE_MAGIC_H

#include <stddef.h>

/* The number of bytes that file_magic() looks at. */
#define FILE_MAGIC_LEN 16

struct file_magic {
	/* What the file is: "compressed by gzip". */
	const char *what;
	/* The command that unpacks a compressed file to its standard output. NULL: the file is not compressed. */
	const char *unpack;
	/*
	 * Advice for a file that is not compressed, as a clause for the end of a message: "debug files are for --symbols". NULL
	 * if there is none.
	 */
	const char *instead;
};

/* Returns what a file that begins with these bytes is, or NULL if it is none of the kinds that this function knows. */
const struct file_magic *file_magic(const void *bytes, size_t len);

#endif
