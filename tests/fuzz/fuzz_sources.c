/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source files: which file has a report's name, and the statement at a line of it. The input's first byte is the line.
 * Up to the next newline follows the name that the report has, and then the text of a file.c.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "pruner/lists/statement.h"
#include "symbols/files/sources.h"
#include "tests/fuzz/fuzz.h"

static char folder[64];

static void remove_folder(void)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/file.c", folder);
	unlink(path);
	rmdir(folder);
}

static void write_text(const uint8_t *text, size_t len)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "%s/file.c", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	fuzz_require(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	close(fd);
}

/* The folder has only file.c: a name that finds another file has left the folder. */
static void ask(const char *name, unsigned line, const uint8_t *text, size_t len)
{
	struct sources *s = sources_new(NULL, NULL);
	char statement[STATEMENT_MAX];
	const char *found;
	size_t n;

	fuzz_require(s && sources_add(s, folder, NULL) == 0);
	found = sources_text(s, name, &n);
	fuzz_require(!found || (n == len && memcmp(found, text, n) == 0));
	for (unsigned i = line; i < line + 4; i++) {
		if (statement_at(s, name, i, statement))
			fuzz_require(memchr(statement, 0, sizeof(statement)));
		if (statement_at(s, "file.c", i, statement))
			fuzz_require(memchr(statement, 0, sizeof(statement)));
		found = sources_line(s, "file.c", i, &n);
		fuzz_require(!found || n <= len);
	}
	sources_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data + 1, '\n', size - 1) : NULL;
	char name[4096];
	size_t len;

	if (!end || (size_t)(end - data) > sizeof(name))
		return 0;
	if (!folder[0]) {
		strcpy(folder, "/tmp/outrider-fuzz-XXXXXX");
		fuzz_require(mkdtemp(folder));
		atexit(remove_folder);
	}
	len = (size_t)(end - data) - 1;
	memcpy(name, data + 1, len);
	name[len] = 0;
	write_text(end + 1, size - len - 2);
	ask(name, data[0], end + 1, size - len - 2);
	return 0;
}
