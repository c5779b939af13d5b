// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/vmm/vsock_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int own_folder(const char *folder, struct err *err)
{
	struct stat st;

	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return err_set(err, EXIT_INPUT,
			       "cannot make the folder %s for the vsock's socket: %s; name a socket: --vsock CID,socket=PATH",
			       folder, strerror(errno));
	/* The folder may be in /tmp, where anybody could have made it, or a link of that name, before. */
	if (lstat(folder, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077)
		return err_set(err, EXIT_INPUT,
			       "%s is not a folder that only this user can enter; remove it, or name a socket: --vsock "
			       "CID,socket=PATH",
			       folder);
	return 0;
}

int vsock_default_path(uint32_t cid, char path[VSOCK_PATH_MAX], struct err *err)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char folder[VSOCK_PATH_MAX];
	int len;

	if (runtime && runtime[0] == '/')
		len = snprintf(folder, sizeof(folder), "%s/outrider", runtime);
	else
		len = snprintf(folder, sizeof(folder), "/tmp/outrider-%u", (unsigned)geteuid());
	if (len >= VSOCK_PATH_MAX ||
	    snprintf(path, VSOCK_PATH_MAX, "%s/vsock-%u", folder, cid) + sizeof(VSOCK_PORT_SUFFIX) > VSOCK_PATH_MAX)
		return err_set(err, EXIT_INPUT,
			       "the path of the folder %s is too long for a socket; name a socket: --vsock CID,socket=PATH",
			       folder);
	return own_folder(folder, err);
}
