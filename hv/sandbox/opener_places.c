// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps the list of the files that the opener (opener.h) may write. A place is a folder that was opened before the guest ran,
 * and the name of one file in it, or all names.
 */
#include "hv/sandbox/opener_places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT ".next"

/*
 * Open the folder of `path`, and set *name to the last part of the path. Returns -1 with errno set if the folder cannot be
 * opened, or if the last part is not a file name.
 */
static int open_folder_of(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	size_t len = slash ? (size_t)(slash - path) : 0;

	*name = slash ? slash + 1 : path;
	if (!**name || strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0 || len >= sizeof(folder)) {
		errno = EACCES;
		return -1;
	}
	memcpy(folder, path, len);
	folder[len] = '\0';
	return open(len ? folder : slash ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int add(struct places *p, int folder, const char *name)
{
	struct place *new = &p->list[p->count];
	struct stat st;

	if (folder < 0)
		return 0;
	if (p->count == PLACES_MAX || strlen(name) >= sizeof(new->name) || fstat(folder, &st) < 0) {
		close(folder);
		return -1;
	}
	*new = (struct place){.folder = folder, .dev = st.st_dev, .ino = st.st_ino};
	strcpy(new->name, name);
	p->count++;
	return 0;
}

static int let(struct places *p, const char *path)
{
	const char *name;
	int folder = open_folder_of(path, &name);

	return add(p, folder, name);
}

int places_let_file(struct places *p, const char *path)
{
	char *real = realpath(path, NULL);
	int rc = let(p, path);

	if (rc == 0 && real)
		rc = let(p, real);
	free(real);
	return rc;
}

int places_let_folder(struct places *p, const char *folder)
{
	return add(p, open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), "");
}

static bool is_name_of(const struct place *p, const char *name)
{
	size_t len = strlen(p->name);

	return !len || (strncmp(name, p->name, len) == 0 && (!name[len] || strcmp(name + len, NEXT) == 0));
}

const struct place *places_find(const struct places *p, const char *path, const char **name)
{
	int folder = open_folder_of(path, name);
	const struct place *found = NULL;
	struct stat st;

	if (folder < 0)
		return NULL;
	if (fstat(folder, &st) == 0) {
		for (size_t i = 0; i < p->count && !found; i++)
			if (p->list[i].dev == st.st_dev && p->list[i].ino == st.st_ino && is_name_of(&p->list[i], *name))
				found = &p->list[i];
	}
	close(folder);
	if (!found)
		errno = EACCES;
	return found;
}
