/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects the kind of a symbol file by its content. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/tables/symtab.h"
#include "symbols/tables/symtab_build.h"

static struct symtab *load_file(int fd, const char *path, struct err *err)
{
	char magic[4];
	struct stat stat;

	if (fstat(fd, &stat)) {
		err_set(err, EXIT_INPUT, "%s: cannot read: %s", path, strerror(errno));
		return NULL;
	}
	if (!S_ISREG(stat.st_mode)) {
		err_set(err, EXIT_INPUT, "%s: not a regular file; --symbols takes a vmlinux or a System.map", path);
		return NULL;
	}
	if (pread(fd, magic, sizeof(magic), 0) != sizeof(magic)) {
		err_set(err, EXIT_INPUT, "%s: empty or unreadable; --symbols takes a vmlinux or a System.map", path);
		return NULL;
	}
	if (!memcmp(magic, "\177ELF", sizeof(magic)))
		return symtab_from_elf(fd, path, err);
	return symtab_from_sysmap(fd, (uint64_t)stat.st_size, path, err);
}

struct symtab *symtab_load(const char *path, struct err *err)
{
	/* O_NONBLOCK: opening a FIFO given by mistake must not block before fstat() rejects it. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct symtab *st;

	if (fd < 0) {
		err_set(err, EXIT_INPUT, "%s: cannot open: %s", path, strerror(errno));
		return NULL;
	}
	st = load_file(fd, path, err);
	close(fd);
	return st;
}
