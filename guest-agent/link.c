// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Connects the agent with the host, by vsock or by a console (a terminal device). The connection's descriptor does not block:
 * bytes that it does not take wait in a queue of LINK_ROOM bytes.
 */
#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

/* This header of the kernel uses struct sockaddr without defining it, so <sys/socket.h> must come first. */
#include <linux/vm_sockets.h>

#include "agent.h"

/* In seconds. */
#define RETRY 1.0
#define FINISH 5.0

void link_init(struct link *link, const char *console, unsigned int port)
{
	*link = (struct link){.console = console, .port = port, .state = LINK_DOWN, .fd = -1};
}

void link_drop(struct link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
	link->state = LINK_DOWN;
	link->out_len = 0;
	link->retry_at = now() + RETRY;
}

/* If `fd` is a terminal, make the line discipline neither echo nor change the bytes. */
static void make_raw(int fd)
{
	struct termios t;

	if (tcgetattr(fd, &t))
		return;
	cfmakeraw(&t);
	t.c_cflag |= CLOCAL;
	tcsetattr(fd, TCSANOW, &t);
}

static void open_console(struct link *link, const char *path)
{
	link->fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (link->fd < 0)
		return;
	make_raw(link->fd);
	link->state = LINK_UP;
}

/* Begin to connect to the host by vsock. Returns false if this machine has no vsock. */
static bool call_host(struct link *link)
{
	struct sockaddr_vm host = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_HOST, .svm_port = link->port};

	link->fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (link->fd < 0)
		return errno != EAFNOSUPPORT;
	if (connect(link->fd, (const struct sockaddr *)&host, sizeof(host)) == 0)
		link->state = LINK_UP;
	else if (errno == EINPROGRESS)
		link->state = LINK_CALLING;
	else
		return errno != ENODEV;
	return true;
}

bool link_try(struct link *link)
{
	if (link->state != LINK_DOWN || now() < link->retry_at)
		return false;
	if (link->console) {
		open_console(link, link->console);
	} else if (!call_host(link)) {
		link_drop(link);
		open_console(link, LINK_VIRTIO_PORT);
	}
	if (link->state == LINK_DOWN)
		link_drop(link);
	return link->state == LINK_UP;
}

short link_events(const struct link *link, bool input)
{
	if (link->state == LINK_CALLING)
		return POLLOUT;
	return (short)((input ? POLLIN : 0) | (link->out_len ? POLLOUT : 0));
}

bool link_ready(struct link *link, short revents)
{
	int error = 0;
	socklen_t size = sizeof(error);

	if (link->state == LINK_UP && revents & POLLOUT)
		link_flush(link);
	/* The host has hung up. A port of a virtio console reports POLLHUP, too, while no process of the host has it open. */
	if (link->state == LINK_UP && revents & (POLLHUP | POLLERR) && !(revents & POLLIN))
		link_drop(link);
	if (link->state != LINK_CALLING || !revents)
		return false;
	if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &size) || error) {
		link_drop(link);
		return false;
	}
	link->state = LINK_UP;
	return true;
}

size_t link_read(struct link *link, char *buf, size_t size)
{
	ssize_t n;

	if (link->state != LINK_UP)
		return 0;
	n = read(link->fd, buf, size);
	if (n > 0)
		return (size_t)n;
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		link_drop(link);
	return 0;
}

void link_flush(struct link *link)
{
	while (link->state == LINK_UP && link->out_len) {
		ssize_t n = write(link->fd, link->out, link->out_len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			link_drop(link);
			return;
		}
		link->out_len -= (size_t)n;
		memmove(link->out, link->out + n, link->out_len);
	}
}

bool link_send(struct link *link, bool may_be_lost, const char *fmt, ...)
{
	/* Lines that may be lost fill only half of the queue. The other half is for lines that must not be lost. */
	size_t most = may_be_lost ? LINK_ROOM / 2 : LINK_ROOM;
	char line[1024];
	va_list ap;
	int len;

	if (link->state != LINK_UP)
		return false;
	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (len < 0)
		return false;
	len = len > (int)sizeof(line) - 2 ? (int)sizeof(line) - 2 : len;
	line[len++] = '\n';
	if (link->out_len + (size_t)len <= most) {
		memcpy(link->out + link->out_len, line, (size_t)len);
		link->out_len += (size_t)len;
		link_flush(link);
		return true;
	}
	if (!may_be_lost)
		link_drop(link);
	return false;
}

void link_finish(struct link *link)
{
	double end = now() + FINISH;
	bool said = false;
	char rest[256];

	while (link->state == LINK_UP && now() < end) {
		struct pollfd fds = {.fd = link->fd, .events = link->out_len ? POLLOUT : POLLIN};

		if (!link->out_len && !said) {
			/*
			 * After shutdown() on a socket, the host reads the bytes that are still in flight and then hangs up;
			 * wait until the host has hung up. On a console shutdown() fails, and the host never hangs up, so do
			 * not wait.
			 */
			if (shutdown(link->fd, SHUT_WR))
				break;
			said = true;
		}
		poll(&fds, 1, 100);
		link_flush(link);
		if (said)
			link_read(link, rest, sizeof(rest));
	}
	link_drop(link);
}
