/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a gdbstub sends. Each line of the input is a packet, which gets its frame and its checksum here. A line that begins with
 * '!' is sent unchanged. The target sends all lines at once, and then hangs up as the stub would.
 */
#include <sys/socket.h>

#include "hv/rsp/packet.h"
#include "hv/rsp/rsp.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_MAX 10000u /* Bytes. Framed they fit into the queue of a socket. */

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

/* Make each kind of request, whatever was answered before. */
static void ask(struct rsp *r)
{
	uint32_t ids[16];
	uint8_t bytes[64];
	struct x86_regs regs;
	struct rsp_stop stop;
	char text[256];

	rsp_threads(r, ids, 16);
	rsp_regs(r, 1, &regs);
	rsp_halted(r, 1);
	rsp_physical(r, true);
	rsp_monitor(r, "info", text, sizeof(text));
	rsp_read(r, 0x1000, bytes, sizeof(bytes));
	rsp_write(r, 0x1000, bytes, sizeof(bytes));
	rsp_insert(r, RSP_SOFTWARE, 0x1000, 1);
	rsp_resume(r, NULL, 0);
	rsp_interrupt(r);
	rsp_wait(r, 0, &stop);
	rsp_detach(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {0};
	struct rsp *r;
	bool standing;
	int fds[2];

	if (!size || size > INPUT_MAX)
		return 0;
	fuzz_require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	send_all(fds[1], data, size);
	shutdown(fds[1], SHUT_WR);
	r = rsp_open(fds[0], false, NULL, &standing, &err);
	if (r)
		ask(r);
	else
		fuzz_refused(&err);
	rsp_close(r);
	close(fds[1]);
	return 0;
}
