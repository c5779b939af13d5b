/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread closes a socket that is in a sockmap, and the other puts another socket into its place. If the first one finds the
 * replacement in the map, the map must lose that socket, too, once it is closed.
 */
#include "../trigger.h"

#include <arpa/inet.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>

#define CLOSED_SOCKET_IN_MAP 2

static int map, old, replacement;
/* Numbers of rounds that each side has begun or ended. */
static atomic_uint asked, replaced, done;

static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int set_socket(int fd)
{
	uint64_t value = (uint64_t)fd;
	uint32_t key = 0;
	union bpf_attr attr = {.map_fd = (uint32_t)map, .key = (uintptr_t)&key, .value = (uintptr_t)&value};

	return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

static bool is_empty(void)
{
	uint64_t value = 0;
	uint32_t key = 0;
	union bpf_attr attr = {.map_fd = (uint32_t)map, .key = (uintptr_t)&key, .value = (uintptr_t)&value};

	return bpf(BPF_MAP_LOOKUP_ELEM, &attr) < 0;
}

/* A UDP socket with a port: only such a one may be in a map. */
static int new_socket(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = need(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "make a UDP socket");

	need(bind(fd, (const struct sockaddr *)&at, sizeof(at)), "bind a UDP socket");
	return fd;
}

static void set_up(void)
{
	old = new_socket();
	replacement = new_socket();
	need(set_socket(old), "put a socket into a map");
}

static void close_old(void *opaque)
{
	unsigned int round = atomic_load(&done) + 1;

	(void)opaque;
	if (!is_explored()) {
		set_up();
		atomic_store(&asked, round);
	}
	close(old);
	/* Until the other side's call has returned, it may have a reference of its own to the replacement. */
	while (atomic_load(&replaced) != round)
		if (is_explored())
			return;
	close(replacement);
	if (!is_empty())
		step_status = CLOSED_SOCKET_IN_MAP;
	atomic_store(&done, round);
}

static void replace(void *opaque)
{
	unsigned int round = atomic_load(&replaced) + 1;

	(void)opaque;
	while (!is_explored() && atomic_load(&asked) != round)
		;
	need(set_socket(replacement), "replace a socket in a map");
	atomic_store(&replaced, round);
}

int main(void)
{
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_SOCKMAP,
			       .key_size = sizeof(uint32_t),
			       .value_size = sizeof(uint64_t),
			       .max_entries = 1};

	map = need(bpf(BPF_MAP_CREATE, &attr), "make a sockmap");
	if (is_explored())
		set_up();
	repeat_both(close_old, replace, NULL);
}
