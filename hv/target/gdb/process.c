/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the memory of the process at the other end of a Unix socket, which is the gdbstub's QEMU (process.h). */
#include "hv/target/gdb/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the other end of a socket (sock_diag(7)) ---- */

struct request {
	struct nlmsghdr header;
	struct unix_diag_req diag;
};

/* Returns the inode of the peer socket in the kernel's answer, or 0 if the answer has none. */
static uint32_t peer_in(const struct nlmsghdr *header, size_t len)
{
	const char *attr = (const char *)header + NLMSG_LENGTH(sizeof(struct unix_diag_msg)), *end;
	uint32_t inode;

	if (len < NLMSG_LENGTH(sizeof(struct unix_diag_msg)) || header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    header->nlmsg_len > len)
		return 0;
	end = (const char *)header + header->nlmsg_len;
	while ((size_t)(end - attr) >= sizeof(struct nlattr)) {
		const struct nlattr *a = (const struct nlattr *)attr;

		if (a->nla_len < sizeof(*a) || a->nla_len > (size_t)(end - attr))
			return 0;
		if (a->nla_type == UNIX_DIAG_PEER && a->nla_len == sizeof(*a) + sizeof(inode)) {
			memcpy(&inode, a + 1, sizeof(inode));
			return inode;
		}
		if ((size_t)NLA_ALIGN(a->nla_len) > (size_t)(end - attr))
			return 0;
		attr += NLA_ALIGN(a->nla_len);
	}
	return 0;
}

/* Returns the inode of the socket that the Unix socket `fd` is connected to, or 0 if the kernel does not tell. */
static uint32_t peer_inode(int fd)
{
	union {
		struct nlmsghdr header;
		char bytes[1024];
	} answer;
	struct request request = {
		.header = {.nlmsg_len = sizeof(request), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
		.diag = {.sdiag_family = AF_UNIX,
			 .udiag_states = ~0u,
			 .udiag_show = UDIAG_SHOW_PEER,
			 .udiag_cookie = {~0u, ~0u}},
	};
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	uint32_t inode = 0;
	struct stat st;
	ssize_t n;

	if (netlink < 0)
		return 0;
	if (fstat(fd, &st) == 0) {
		request.diag.udiag_ino = (uint32_t)st.st_ino;
		n = send(netlink, &request, sizeof(request), 0) == sizeof(request) ? recv(netlink, &answer, sizeof(answer), 0)
										   : -1;
		inode = n > 0 ? peer_in(&answer.header, (size_t)n) : 0;
	}
	close(netlink);
	return inode;
}

/* ---- the process ---- */

static pid_t peer_pid(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) || len != sizeof(peer))
		return 0;
	return peer.pid == getpid() ? 0 : peer.pid;
}

/* Returns true if a process has the socket `inode` open. `process` is a descriptor of the process's folder in /proc. */
static bool has_socket(int process, uint32_t inode)
{
	int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	char want[32], link[32];
	bool has = false;

	if (!folder) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	snprintf(want, sizeof(want), "socket:[%u]", inode);
	while (!has && (entry = readdir(folder))) {
		ssize_t n = readlinkat(fd, entry->d_name, link, sizeof(link));

		has = n == (ssize_t)strlen(want) && memcmp(link, want, (size_t)n) == 0;
	}
	closedir(folder);
	return has;
}

int gdb_process_open(int socket, pid_t pid, const char **why)
{
	uint32_t inode = peer_inode(socket);
	int process = -1, memory = -1;
	char path[32];

	pid = pid ? pid : peer_pid(socket);
	if (pid <= 0 || !inode) {
		*why = "the gdbstub's process is not on this host, or not known";
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	/* Open files relative to this folder: they belong to one process, even if its ID is reused meanwhile. */
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	memory = process >= 0 ? openat(process, "mem", O_RDONLY | O_CLOEXEC) : -1;
	if (memory < 0) {
		*why = "the gdbstub's process is another user's";
	} else if (!has_socket(process, inode)) {
		*why = "the process that listened for the gdbstub is not the one that answers";
		close(memory);
		memory = -1;
	}
	if (process >= 0)
		close(process);
	return memory;
}
