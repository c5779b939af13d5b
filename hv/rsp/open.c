/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a client on a connection to a gdbstub: asks for the stub's features, for the description of the machine's registers,
 * and whether the stub can read physical memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/rsp/internal.h"

#define PACKET_LEAST 512u
/* Maximum size of one XML document of the register description, in bytes. QEMU's longest has about 30 KB. */
#define DOCUMENT_MAX (1u << 18)
#define CHUNK 1000u /* Bytes of a document in one request. */

static bool has_feature(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; at; at = strchr(at, ';')) {
		at += *at == ';';
		if (strncmp(at, name, len) == 0 && (at[len] == ';' || at[len] == 0))
			return true;
	}
	return false;
}

static int read_features(struct rsp *r)
{
	const char *list = (const char *)r->payload, *size = strstr(list, "PacketSize=");

	r->packet_size = PACKET_LEAST;
	if (size) {
		const uint8_t *at = (const uint8_t *)size + strlen("PacketSize=");
		uint64_t n;

		if (rsp_number(&at, r->payload + r->payload_len, &n) == 0 && n > PACKET_LEAST)
			r->packet_size = n < RSP_OUTPUT - 8 ? (size_t)n : RSP_OUTPUT - 8;
	}
	r->binary_read = has_feature(list, "binary-upload+");
	if (!has_feature(list, "qXfer:features:read+"))
		return rsp_die(r, "the gdbstub does not describe its registers, so outrider cannot use this gdbstub");
	if (!has_feature(list, "QStartNoAckMode+"))
		return 0;
	if (rsp_ask(r, "QStartNoAckMode"))
		return -1;
	if (rsp_said(r, "OK")) {
		rsp_send_ack(r);
		r->no_ack = true;
	}
	return 0;
}

/*
 * Read a document of the stub's register description (qXfer:features:read). regmap_read() calls this function (regmap_fetch).
 */
static char *fetch_document(void *ctx, const char *annex, struct err *err)
{
	struct rsp *r = ctx;
	char *text = malloc(DOCUMENT_MAX + 1);
	size_t len = 0;

	for (bool more = true; text && more;) {
		size_t n;

		if (strlen(annex) > 100 || rsp_ask(r, "qXfer:features:read:%s:%zx,%x", annex, len, CHUNK))
			goto fail;
		n = r->payload_len - 1;
		if (r->payload_len == 0 || (r->payload[0] != 'm' && r->payload[0] != 'l'))
			goto fail;
		if (n > DOCUMENT_MAX - len) {
			err_set(err, EXIT_INPUT, "the gdbstub's register description (%s) is too long", annex);
			goto fail;
		}
		memcpy(text + len, r->payload + 1, n);
		len += n;
		more = r->payload[0] == 'm' && n;
	}
	if (!text) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	text[len] = 0;
	return text;
fail:
	free(text);
	if (r->dead.code != EXIT_OK)
		err_set(err, EXIT_INPUT, "%s", r->dead.text);
	else
		err_set(err, EXIT_INPUT, "the gdbstub does not show the description of its registers");
	return NULL;
}

static int shake_hands(struct rsp *r, struct err *err)
{
	struct rsp_stop stop;

	if (rsp_ask(r, "qSupported:vContSupported+;qXfer:features:read+") || read_features(r))
		return -1;
	if (rsp_ask(r, "vCont?"))
		return -1;
	if (!strstr((const char *)r->payload, ";c"))
		return rsp_die(r, "the gdbstub cannot resume single CPUs (vCont)");
	if (regmap_read(&r->map, fetch_document, r, err))
		return -1;
	/*
	 * Ask why the machine stopped ("?"). On this request QEMU also removes the breakpoints and watchpoints that an earlier
	 * client left.
	 */
	if (rsp_send(r, "?", 1))
		return -1;
	if (rsp_wait(r, RSP_PATIENCE_NS, &stop) <= 0)
		return rsp_die(r, "the gdbstub does not say whether the machine is stopped");
	if (!r->was_running && rsp_ask_whether_it_ran(r))
		return -1;
	if (rsp_ask(r, "qqemu.PhyMemMode"))
		return -1;
	r->physical = rsp_said(r, "0") || rsp_said(r, "1");
	r->was_physical = rsp_said(r, "1");
	/*
	 * Send several requests together only if the stub drops no input while it waits for the '+' for its last reply. A stub
	 * without acknowledgements does not wait, and QEMU drops nothing. `physical` shows that the stub is QEMU's, because no
	 * other stub has qqemu.PhyMemMode.
	 */
	r->together = r->no_ack || r->physical;
	if (rsp_ask(r, "X0,0:"))
		return -1;
	r->binary_write = rsp_said(r, "OK");
	return 0;
}

struct rsp *rsp_open(int fd, bool running, const struct limit *limit, bool *standing, struct err *err)
{
	struct rsp *r = calloc(1, sizeof(*r));

	if (!r) {
		close(fd);
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	r->fd = fd;
	r->was_running = running;
	r->limit = limit;
	rsp_allow(r, RSP_OPEN_NS);
	if (shake_hands(r, err) == 0) {
		rsp_allow(r, 0);
		return r;
	}
	if (r->dead.code != EXIT_OK)
		err_set(err, r->dead.code, "%s", r->dead.text);
	else if (r->was_running)
		rsp_detach(r); /* The stub is unusable, but the machine was running and must not stay stopped. */
	if (standing)
		*standing = rsp_left_standing(r);
	rsp_close(r);
	return NULL;
}

void rsp_close(struct rsp *r)
{
	if (!r)
		return;
	close(r->fd);
	free(r);
}

bool rsp_was_running(const struct rsp *r)
{
	return r->was_running;
}

int rsp_fd(const struct rsp *r)
{
	return r->fd;
}

const char *rsp_dead(const struct rsp *r, bool *exited)
{
	*exited = r->exited;
	return r->dead.code != EXIT_OK ? r->dead.text : NULL;
}

bool rsp_left_standing(const struct rsp *r)
{
	return r->dead.code != EXIT_OK && !r->exited && r->was_running;
}

uint64_t rsp_requests(const struct rsp *r)
{
	return r->requests;
}
