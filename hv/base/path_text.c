// SPDX-License-Identifier: GPL-2.0-or-later
/* Shortens the paths of source files, so that they fit into a message. */
#include "hv/base/path_text.h"

#include <stdio.h>
#include <string.h>

/* Maximum number of bytes kept of the beginning of a path: it shows the source tree, and the end shows the file. */
#define HEAD_MAX 40

void path_text(const char *path, char out[PATH_TEXT_MAX])
{
	static const char gap[] = "...";
	size_t len = strlen(path), head = 0;
	const char *tail;

	if (len < PATH_TEXT_MAX) {
		memcpy(out, path, len + 1);
		return;
	}
	for (size_t i = 0; i < HEAD_MAX; i++) {
		if (path[i] == '/')
			head = i + 1;
	}
	/* Keep as much of the path's end as fits after the beginning and the gap, but let the kept end begin with a slash. */
	tail = path + len - (PATH_TEXT_MAX - 1 - head - strlen(gap));
	if (strchr(tail, '/'))
		tail = strchr(tail, '/');
	snprintf(out, PATH_TEXT_MAX, "%.*s%s%s", (int)head, path, gap, tail);
}
