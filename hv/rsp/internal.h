/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the gdbstub client share. No other component includes this header. */
#ifndef OUTRIDER_RSP_INTERNAL_H
#define OUTRIDER_RSP_INTERNAL_H

#include "hv/rsp/packet.h"
#include "hv/rsp/regmap.h"
#include "hv/rsp/rsp.h"

#define RSP_INPUT (2 * RSP_PACKET_MAX)
#define RSP_OUTPUT 16384u

struct rsp {
	int fd;
	bool was_running;  /* The machine ran until rsp_open() stopped it. */
	bool exited;	   /* The machine has ended, or at least its stub. */
	struct err dead;   /* Why the client is dead. The code is EXIT_OK while it lives. */
	uint64_t requests; /* How many requests were made. */

	/* When patience ends, on CLOCK_MONOTONIC. */
	const struct limit *limit; /* The caller's limit for everything, or NULL. */
	uint64_t total_ns;	   /* The end of what rsp_allow() has allowed. LIMIT_NONE: there is none. */
	uint64_t reply_ns;	   /* The reply to the last request must be here by then, and all of it. */

	/* What the stub has sent since the last request, and what was of no use. */
	size_t noise;	  /* Bytes that belong to no packet that was waited for. */
	unsigned naks;	  /* How often it has refused the request as damaged. */
	unsigned damaged; /* How many packets in a row came damaged. */

	/* What the stub has said it can do. */
	size_t packet_size; /* The most bytes in the payload of a request. */
	bool no_ack;	    /* Neither side acknowledges packets. */
	bool together;	    /* The stub takes requests before the replies to those in front of them were acknowledged. */
	bool binary_read;   /* The stub knows the request `x`, which reads memory in binary. */
	bool binary_write;  /* The stub knows the request `X`, which writes memory in binary. */
	bool physical;	    /* The stub can take addresses for guest-physical ones. */
	bool was_physical;  /* The stub took addresses for guest-physical ones when the client connected. */
	struct regmap map;

	uint32_t general_thread; /* The thread that the last `Hg` has selected. 0: none. */

	/* Input. */
	uint8_t in[RSP_INPUT];		     /* Bytes that have been received. */
	size_t in_start;		     /* Where the bytes that were not looked at yet begin in `in`. */
	size_t in_len;			     /* How many bytes were not looked at yet. */
	uint8_t payload[RSP_PACKET_MAX + 1]; /* The payload of the last packet, with a NUL after it. */
	size_t payload_len;

	/* Output. */
	uint8_t out[RSP_OUTPUT]; /* '+' and the last packets, framed. A single one is sent again if it was damaged on its way.
				  */
	size_t out_len;
	unsigned out_packets; /* How many packets are in `out`. */
	bool unsent;	      /* They wait in `out` to be sent with the next one. */
	bool owe_ack;	      /* The last packet received is not acknowledged yet. That goes out with the next packet sent. */
};

/* ---- io.c ---- */

/* Make the client dead for the reason given. Returns -1. */
int rsp_die(struct rsp *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Keep a payload in which every byte that needs an escape has one, to be sent with the next. Returns 0, or -1 when the client
 * is dead.
 */
int rsp_keep(struct rsp *r, const char *payload, size_t len);

/* Send the packets that are kept. Returns 0, or -1 when the client is dead. */
int rsp_send_kept(struct rsp *r);

/* Send a payload, behind those that are kept. Returns 0, or -1 when the client is dead. */
int rsp_send(struct rsp *r, const char *payload, size_t len);

/* Send the acknowledgement that is owed now, because nothing else will be sent that could carry it. */
void rsp_send_ack(struct rsp *r);

/*
 * Receive the next packet, into rsp.payload. Returns 1, or 0 when there is none until `deadline_ns` (on CLOCK_MONOTONIC), or -1
 * when the client is dead. It also dies when it receives too much that is of no use.
 */
int rsp_receive(struct rsp *r, uint64_t deadline_ns);

/* Count the packet that was received last as of no use. Returns 0, or -1 when that is too much and the client is dead. */
int rsp_ignore(struct rsp *r);

/* ---- reply.c ---- */

/*
 * Whether rsp.payload says that the machine has stopped. If so, `stop` is set. If it says that the machine has ended, the
 * client is dead, and the function returns false.
 */
bool rsp_is_stop(struct rsp *r, struct rsp_stop *stop);

/*
 * Make a request and receive the reply, into rsp.payload. An empty reply means that the stub does not know the request. Returns
 * 0, or -1 when the client is dead.
 */
int rsp_ask(struct rsp *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int rsp_ask_bytes(struct rsp *r, const char *payload, size_t len);

/* Receive one more packet in reply to the last request, before rsp.reply_ns. Returns 0, or -1 when the client is dead. */
int rsp_next_reply(struct rsp *r);

/*
 * QEMU 8.1 and newer do not report that they stop a machine on connecting. Set rsp.was_running if this is such a QEMU and its
 * machine could have run. One that was paused by its user before cannot be told from that. Returns 0, or -1 when the client is
 * dead.
 */
int rsp_ask_whether_it_ran(struct rsp *r);

/* Whether the reply is `what`. */
bool rsp_said(const struct rsp *r, const char *what);

#endif
