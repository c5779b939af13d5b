// SPDX-License-Identifier: GPL-2.0-or-later
/* Stressors of the workload "busy" that exercise sockets: Unix sockets, and TCP and UDP over the loopback interface. */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent.h"
#include "busy.h"

#define MESSAGE 1000
#define MESSAGES 10

void busy_loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (ioctl(fd, SIOCSIFFLAGS, &request))
		say_failed("busy: lo up");
	close(fd);
}

/* Send and receive messages in turn, in one process. send() cannot block: one message fits into the socket's buffer. */
static bool exchange(int from, int to)
{
	char buf[MESSAGE] = "";

	for (int i = 0; i < MESSAGES; i++)
		if (send(from, buf, sizeof(buf), 0) != sizeof(buf) || recv(to, buf, sizeof(buf), MSG_WAITALL) != sizeof(buf))
			return false;
	return true;
}

static enum busy_result round_unix(struct busy_worker *w)
{
	int fd[2], type = busy_random(w) % 2 ? SOCK_STREAM : SOCK_DGRAM;
	bool ok;

	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fd))
		return BUSY_ERROR;
	ok = exchange(fd[0], fd[1]) && exchange(fd[1], fd[0]);
	close(fd[0]);
	close(fd[1]);
	return ok ? BUSY_OK : BUSY_ERROR;
}

/* Bind to a free port of 127.0.0.1, and set *address to that address and port. */
static bool bind_loopback(int fd, struct sockaddr_in *address)
{
	socklen_t len = sizeof(*address);

	memset(address, 0, sizeof(*address));
	address->sin_family = AF_INET;
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return !bind(fd, (struct sockaddr *)address, len) && !getsockname(fd, (struct sockaddr *)address, &len);
}

/*
 * Exchange data over TCP in one process. The client closes its connection by a reset. Otherwise each round would leave a port
 * in TIME_WAIT until none is free.
 */
static enum busy_result round_tcp(struct busy_worker *w)
{
	struct linger reset = {.l_onoff = 1};
	struct sockaddr_in address;
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int peer = -1;
	bool ok = server >= 0 && client >= 0 && bind_loopback(server, &address) && !listen(server, 4) &&
		  !setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) &&
		  !connect(client, (struct sockaddr *)&address, sizeof(address));

	if (ok)
		peer = accept(server, NULL, NULL);
	ok = ok && peer >= 0 && exchange(client, peer) && exchange(peer, client);
	if (busy_random(w) % 2)
		shutdown(peer, SHUT_WR);
	close(client);
	close(peer);
	close(server);
	return ok ? BUSY_OK : BUSY_ERROR;
}

static enum busy_result round_udp(struct busy_worker *w)
{
	struct sockaddr_in a, b;
	int fd[2] = {socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
	bool ok = fd[0] >= 0 && fd[1] >= 0 && bind_loopback(fd[0], &a) && bind_loopback(fd[1], &b) &&
		  !connect(fd[0], (struct sockaddr *)&b, sizeof(b)) && !connect(fd[1], (struct sockaddr *)&a, sizeof(a));

	(void)w;
	ok = ok && exchange(fd[0], fd[1]) && exchange(fd[1], fd[0]);
	close(fd[0]);
	close(fd[1]);
	return ok ? BUSY_OK : BUSY_ERROR;
}

const struct stressor stressor_unix = {"unix", false, round_unix};
const struct stressor stressor_tcp = {"tcp", false, round_tcp};
const struct stressor stressor_udp = {"udp", false, round_udp};
