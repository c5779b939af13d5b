/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a gdb sends. Each line of the input is a packet, which gets its frame and its checksum here. A line that begins with '!'
 * is sent unchanged. The target sends all lines at once, and then hangs up as gdb would.
 */
#include <pthread.h>
#include <sys/socket.h>

#include "hv/replay/gdb/gdb.h"
#include "hv/rsp/packet.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_MAX 10000u /* Bytes. Framed they fit into the queue of a socket. */
#define MEMORY 256u	 /* Bytes that the machine has, from address 0 on. */
#define CPUS 3u

struct machine {
	struct replay_cpu cpus[CPUS];
	uint8_t memory[MEMORY];
	const struct gdb_point *points;
	size_t count;
	unsigned runs;
};

static int get(void *ctx, unsigned cpu, struct replay_cpu *out, struct err *err)
{
	struct machine *m = ctx;

	(void)err;
	fuzz_require(cpu < CPUS);
	*out = m->cpus[cpu];
	return 0;
}

static int set(void *ctx, unsigned cpu, const struct replay_cpu *in, struct err *err)
{
	struct machine *m = ctx;

	(void)err;
	fuzz_require(cpu < CPUS);
	fuzz_require(in->regs.cr3 == m->cpus[cpu].regs.cr3 && in->regs.cs == m->cpus[cpu].regs.cs);
	m->cpus[cpu] = *in;
	return 0;
}

static size_t bytes_at(uint64_t gva, size_t len)
{
	if (gva >= MEMORY)
		return 0;
	return len < MEMORY - gva ? len : MEMORY - gva;
}

static size_t read_memory(void *ctx, unsigned cpu, uint64_t gva, void *out, size_t len)
{
	struct machine *m = ctx;
	size_t n = bytes_at(gva, len);

	fuzz_require(cpu < CPUS);
	if (n)
		memcpy(out, m->memory + gva, n);
	return n;
}

static size_t write_memory(void *ctx, unsigned cpu, uint64_t gva, const void *in, size_t len)
{
	struct machine *m = ctx;
	size_t n = bytes_at(gva, len);

	fuzz_require(cpu < CPUS);
	if (n)
		memcpy(m->memory + gva, in, n);
	return n;
}

/* It has room for ten. */
static bool points(void *ctx, const struct gdb_point *points, size_t count)
{
	struct machine *m = ctx;

	fuzz_require(count <= GDB_POINTS_MAX);
	for (size_t i = 0; i < count; i++)
		fuzz_require(points[i].len && points[i].gva + (points[i].len - 1) >= points[i].gva);
	if (count > 10)
		return false;
	m->points = points;
	m->count = count;
	return true;
}

static int go(void *ctx, const struct gdb_go *go, struct gdb_stop *stop, struct err *err)
{
	struct machine *m = ctx;

	fuzz_require(go->step ? go->cpu < CPUS : go->cpus && !(go->cpus >> CPUS));
	*stop = (struct gdb_stop){.reason = GDB_NEWS, .cpu = m->runs % CPUS, .text = "news"};
	if (go->step)
		stop->reason = GDB_STEPPED;
	else if (go->interrupted(go->arg))
		stop->reason = GDB_INTERRUPTED;
	else if (m->count)
		*stop = (struct gdb_stop){.reason = GDB_POINT, .point = m->points[m->runs % m->count]};
	return ++m->runs < 100 ? 0 : err_set(err, EXIT_INTERNAL, "the machine has failed");
}

static void describe(void *ctx, unsigned cpu, char out[GDB_TEXT_MAX])
{
	(void)ctx;
	fuzz_require(cpu < CPUS);
	snprintf(out, GDB_TEXT_MAX, "CPU %u", cpu);
}

static void command(void *ctx, const char *text, char out[GDB_ANSWER_MAX])
{
	(void)ctx;
	snprintf(out, GDB_ANSWER_MAX, "no command \"%s\"\n", text);
}

/* ---- the client ---- */

/* Write the bytes of the line's packet to `out`, which has room for them. Returns their length. */
static size_t put_line(const uint8_t *line, size_t len, uint8_t *out)
{
	if (!len || line[0] != '!')
		return rsp_frame((const char *)line, len, out, len + 4);
	memcpy(out, line + 1, len - 1);
	return len - 1;
}

static void send_all(int fd, const uint8_t *data, size_t size)
{
	static uint8_t bytes[5 * (INPUT_MAX + 1)];
	size_t n = 0;

	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) : size;

		n += put_line(data, len, bytes + n);
		len += end != NULL;
		data += len;
		size -= len;
	}
	fuzz_require(send(fd, bytes, n, MSG_DONTWAIT) == (ssize_t)n);
}

static void *read_replies(void *arg)
{
	const int *fd = arg;
	char bytes[4096];

	while (recv(*fd, bytes, sizeof(bytes), 0) > 0)
		;
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine m = {.cpus = {{.regs.cr3 = 0x1000}}};
	const struct gdb_machine machine = {
		.cpus = CPUS,
		.get = get,
		.set = set,
		.read = read_memory,
		.write = write_memory,
		.points = points,
		.go = go,
		.describe = describe,
		.command = command,
		.ctx = &m,
	};
	struct err err = {0};
	pthread_t reader;
	int fds[2];

	if (!size || size > INPUT_MAX)
		return 0;
	fuzz_require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	send_all(fds[1], data, size);
	shutdown(fds[1], SHUT_WR);
	fuzz_require(pthread_create(&reader, NULL, read_replies, &fds[1]) == 0);
	if (gdb_talk(fds[0], -1, &machine, &err) < 0)
		fuzz_refused(&err);
	close(fds[0]);
	pthread_join(reader, NULL);
	close(fds[1]);
	return 0;
}
