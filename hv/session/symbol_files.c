// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts the files and folders of --symbols by what each is good for (symbol_files.h). */
#include "hv/session/symbol_files.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum kind {
	FOLDER,
	/* Relocatable ELF: a module, or its debug file. */
	MODULE,
	/* Other ELF. */
	VMLINUX,
	/* Anything else; reading the file fails if it is no System.map. */
	MAP,
};

/* Returns the kind of the file, or -1 with errno set. Fails for a FIFO or a device without opening it. */
static int kind_of(const char *path)
{
	Elf64_Ehdr header = {0};
	struct stat st;
	FILE *file;
	size_t got;

	if (stat(path, &st) < 0)
		return -1;
	if (S_ISDIR(st.st_mode))
		return FOLDER;
	if (!S_ISREG(st.st_mode))
		return MAP;
	file = fopen(path, "re");
	if (!file)
		return -1;
	got = fread(&header, 1, sizeof(header), file);
	fclose(file);
	if (got < sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return MAP;
	return header.e_type == ET_REL ? MODULE : VMLINUX;
}

int symbol_files_kernel(const char *const *paths, size_t count, const char **kernel, struct err *err)
{
	*kernel = NULL;
	for (size_t i = 0; i < count; i++) {
		int kind = kind_of(paths[i]);

		if (kind < 0)
			return err_set(err, EXIT_INPUT, "--symbols %s: %s", paths[i], strerror(errno));
		if (kind == FOLDER || kind == MODULE)
			continue;
		if (*kernel)
			return err_set(err, EXIT_USAGE,
				       "--symbols %s and --symbols %s are both for the kernel: give one of them", *kernel,
				       paths[i]);
		*kernel = paths[i];
	}
	return 0;
}

int symbol_files_add(const char *const *paths, size_t count, struct debug_images *images, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (kind_of(paths[i]) != MAP && debug_images_add(images, paths[i], err) < 0)
			return -1;
	}
	return 0;
}
