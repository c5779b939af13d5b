// SPDX-License-Identifier: GPL-2.0-or-later
/* Serves a gdb client: receives packets, and calls the handler of each packet. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hv/replay/gdb/server.h"

/* Hg and Hc select the CPU for the packets that follow. */
static void choose(struct server *s, struct cursor c)
{
	bool resumed = skip(&c, "c");
	unsigned cpus;

	if ((!resumed && !skip(&c, "g")) || !thread(s, &c, &cpus))
		return refuse(s, REFUSED_FORM);
	if (resumed)
		s->resumed = cpus;
	else if (!(cpus >> s->cpu & 1))
		s->cpu = (unsigned)__builtin_ctz(cpus);
	reply_text(s, "OK");
}

static void alive(struct server *s, struct cursor c)
{
	unsigned cpus;

	if (!thread(s, &c, &cpus))
		return refuse(s, REFUSED_FORM);
	reply_text(s, "OK");
}

static void detach(struct server *s, struct cursor c)
{
	(void)c;
	s->over = true;
	reply_text(s, "OK");
}

static void kill_machine(struct server *s, struct cursor c)
{
	(void)c;
	s->over = true;
	s->silent = true;
}

static handler *const handlers[128] = {
	['?'] = resume_why,   ['C'] = resume_continue, ['D'] = detach,	     ['G'] = data_set_all, ['H'] = choose,
	['M'] = data_write,   ['P'] = data_set_one,    ['Q'] = query_set,    ['S'] = resume_step,  ['T'] = alive,
	['Z'] = data_insert,  ['c'] = resume_continue, ['g'] = data_get_all, ['k'] = kill_machine, ['m'] = data_read,
	['p'] = data_get_one, ['q'] = query_get,       ['s'] = resume_step,  ['v'] = resume_v,	   ['x'] = data_read_binary,
	['z'] = data_remove,
};

/* Handle the received packet, and send its reply. The reply to an unknown packet is empty. */
static void handle(struct server *s)
{
	const uint8_t *payload = s->link.payload;
	struct cursor c = {.at = payload + 1, .end = payload + s->link.payload_len};
	handler *h = s->link.payload_len && payload[0] < 128 ? handlers[payload[0]] : NULL;

	s->reply_len = 0;
	s->silent = false;
	if (h)
		h(s, c);
	if (s->failure.code == EXIT_OK && !s->silent)
		link_send(&s->link, s->reply, s->reply_len);
}

/*
 * Wait for a client. Returns the file descriptor of its connection. Returns -1 with `err` set on an error, and -1 with `err`
 * unset when `stop_fd` was readable first.
 */
static int await_client(const struct gdb_config *config, struct err *err)
{
	struct pollfd fds[2] = {{.fd = config->listener, .events = POLLIN}, {.fd = config->stop_fd, .events = POLLIN}};
	int fd = -1, on = 1;

	while (fd < 0 && !fds[1].revents) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return err_set(err, EXIT_INTERNAL, "gdb: poll: %s", strerror(errno));
		if (fds[0].revents && !fds[1].revents)
			fd = accept4(config->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fds[0].revents && fd < 0 && errno != EINTR && errno != ECONNABORTED && errno != EAGAIN)
			return err_set(err, EXIT_INPUT, "gdb: cannot accept a connection: %s", strerror(errno));
	}
	/*
	 * Send packets without delay: they are small, and each side waits for the other side's packets. This call fails on a
	 * Unix socket, which does not delay packets anyway.
	 */
	if (fd >= 0)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

int gdb_talk(int fd, int stop_fd, const struct gdb_machine *machine, struct err *err)
{
	struct server *s = calloc(1, sizeof(*s));
	struct err failure;

	if (!s)
		return err_set(err, EXIT_INTERNAL, "gdb: out of memory");
	s->machine = machine;
	s->cpu = machine->first_cpu;
	s->resumed = (1u << machine->cpus) - 1;
	s->last = (struct gdb_stop){.reason = GDB_NEWS, .cpu = machine->first_cpu};
	s->xml_len = regs_describe(s->xml);
	s->link.fd = fd;
	s->link.stop_fd = stop_fd;
	while (!s->over && s->failure.code == EXIT_OK && link_receive(&s->link))
		handle(s);
	failure = s->failure;
	free(s);
	return failure.code == EXIT_OK ? 0 : err_set(err, failure.code, "%s", failure.text);
}

int gdb_serve_client(const struct gdb_config *config, const struct gdb_machine *machine, struct err *err)
{
	struct err failure = {0};
	int fd = await_client(config, &failure);

	if (fd >= 0) {
		gdb_talk(fd, config->stop_fd, machine, &failure);
		close(fd);
	}
	return failure.code == EXIT_OK ? 0 : err_set(err, failure.code, "%s", failure.text);
}
