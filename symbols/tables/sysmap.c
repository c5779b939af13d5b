/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a System.map, which has one line "address type name" per symbol, in the format of nm(1) (scripts/mksysmap). */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/tables/symtab.h"
#include "symbols/tables/symtab_build.h"

#define SYSMAP_MAX_BYTES (256ull << 20) /* bytes; a real System.map has some MiB */

/* Parse an address: 16 hex digits in every 64-bit System.map. */
static bool parse_address(const char *hex, uint64_t *addr)
{
	*addr = 0;
	for (unsigned i = 0; i < 16; i++) {
		char c = hex[i];
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned)(c - 'a') + 10;
		else
			return false;
		*addr = *addr << 4 | digit;
	}
	return true;
}

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '?';
}

static int parse_line(struct symtab_builder *b, const char *line, size_t len, const char *path, size_t number, struct err *err)
{
	uint64_t addr;

	if (memmem(line, len, "The real System.map", strlen("The real System.map")))
		return err_set(err, EXIT_INPUT, "%s: Debian's placeholder; the real one is in the kernel's -dbg package", path);
	if (len < 20 || line[16] != ' ' || line[18] != ' ' || !letter(line[17]) || !parse_address(line, &addr) ||
	    !symtab_name_ok(line + 19, len - 19))
		return err_set(err, EXIT_INPUT, "%s: line %zu is not \"address type name\": not a System.map or a vmlinux",
			       path, number);
	return symtab_builder_add(b, line + 19, len - 19, addr, 0, line[17], err);
}

static int parse_lines(struct symtab_builder *b, const char *text, size_t len, const char *path, struct err *err)
{
	size_t number = 1;

	for (size_t pos = 0; pos < len; number++) {
		const char *end = memchr(text + pos, '\n', len - pos);
		size_t line = end ? (size_t)(end - text) - pos : len - pos;

		/* If the last line has no newline, the file is truncated, and the end of the last name may be missing. */
		if (!end)
			return err_set(err, EXIT_INPUT, "%s: truncated in line %zu, or not a System.map", path, number);
		if (parse_line(b, text + pos, line, path, number, err))
			return -1;
		pos += line + 1;
	}
	return 0;
}

static int read_all(int fd, char *buf, size_t len, const char *path, struct err *err)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(fd, buf + done, len - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(err, EXIT_INPUT, "%s: cannot read: %s", path,
				       n ? strerror(errno) : "another program made it shorter meanwhile");
		done += (size_t)n;
	}
	return 0;
}

struct symtab *symtab_from_sysmap(int fd, uint64_t size, const char *path, struct err *err)
{
	struct symtab_builder *b = NULL;
	struct symtab *st = NULL;
	char *text = NULL;

	if (size > SYSMAP_MAX_BYTES) {
		err_set(err, EXIT_INPUT, "%s: too large for a System.map and not an ELF file", path);
		return NULL;
	}
	b = symtab_builder_new();
	text = malloc(size);
	if (!b || !text) {
		err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
		goto out;
	}
	if (read_all(fd, text, size, path, err) || parse_lines(b, text, size, path, err))
		goto out;
	st = symtab_builder_finish(b, err);
	b = NULL;
out:
	symtab_builder_free(b);
	free(text);
	return st;
}
