/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of the gdbstub client only. */
#ifndef OUTRIDER_RSP_INTERNAL_H
#define OUTRIDER_RSP_INTERNAL_H

#include "hv/rsp/packet.h"
#include "hv/rsp/regmap.h"
#include "hv/rsp/rsp.h"

#define RSP_INPUT (2 * RSP_PACKET_MAX)
#define RSP_OUTPUT 16384u

struct rsp {
	int fd;
	bool running;
	bool was_running;
	bool exited;
	struct err dead; /* code EXIT_OK: it lives */
	uint64_t requests;

	/* What the stub said it can do. */
	size_t packet_size; /* of a payload */
	bool no_ack;
	bool binary_read, binary_write;
	bool physical, was_physical; /* the mode it can be switched to; as it was found */
	struct regmap map;

	uint32_t general_thread; /* of the last Hg; 0: none */

	/* Input: what came and was not looked at yet, and the last packet's payload. */
	uint8_t in[RSP_INPUT];
	size_t in_start, in_len;
	uint8_t payload[RSP_PACKET_MAX + 1]; /* with a NUL behind it */
	size_t payload_len;

	uint8_t out[RSP_OUTPUT]; /* the last packet framed, to send again if it was damaged */
	size_t out_len;
	bool owe_ack; /* for the last packet received: goes out with the next one sent */
};

/* ---- io.c ---- */

/* Die, saying why; -1. */
int rsp_die(struct rsp *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Send a payload that needs no more escapes. */
int rsp_send(struct rsp *r, const char *payload, size_t len);

/* The next packet, into r->payload: 1, 0 none until `deadline_ns` (CLOCK_MONOTONIC), -1 dead. */
int rsp_receive(struct rsp *r, uint64_t deadline_ns);

/* Send, and the reply into r->payload. 0, or -1: dead. An empty reply: the stub does not know the request. */
int rsp_ask(struct rsp *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int rsp_ask_bytes(struct rsp *r, const char *payload, size_t len);

/* One more packet in answer to the last request. */
int rsp_next_reply(struct rsp *r);

/* The acknowledgement owed, now: nothing will be sent that could carry it. */
void rsp_send_ack(struct rsp *r);

/* What was replied. */
bool rsp_said(const struct rsp *r, const char *what);

/* ---- stop.c ---- */

/* Whether r->payload says that the machine stopped; fills *stop then. An exit kills the client. */
bool rsp_is_stop(struct rsp *r, struct rsp_stop *stop);

/* ---- open.c ---- */

int rsp_handshake(struct rsp *r, struct err *err);

#endif
