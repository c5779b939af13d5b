/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct rsp, a client of a gdbstub (rsp.h), and the functions that the client's files share. The stub is the gdbstub at the
 * other end of the connection, such as QEMU's.
 */
#ifndef OUTRIDER_RSP_INTERNAL_H
#define OUTRIDER_RSP_INTERNAL_H

#include "hv/rsp/packet.h"
#include "hv/rsp/regmap.h"
#include "hv/rsp/rsp.h"

#define RSP_INPUT (2 * RSP_PACKET_MAX)
#define RSP_OUTPUT 16384u

struct rsp {
	int fd;
	bool was_running;  /* The machine was running until rsp_open() stopped it. */
	bool exited;	   /* The machine has ended, or the stub has closed the connection. */
	struct err dead;   /* Why the client is dead (rsp.h). `dead.code` EXIT_OK: the client is alive. */
	uint64_t requests; /* Number of round trips, see rsp_requests(). */

	/* Limits of waiting (CLOCK_MONOTONIC, ns). */
	const struct limit *limit; /* The caller's deadline for all requests of the client, or NULL. */
	/* The end of the time set by rsp_allow(), on CLOCK_MONOTONIC. LIMIT_NONE: no time was set. */
	uint64_t total_ns;
	uint64_t reply_ns; /* Deadline for the whole reply to the last request, on CLOCK_MONOTONIC. */

	/* Useless input since the last request. */
	size_t noise;	  /* Number of received bytes that belong to no expected packet. */
	unsigned naks;	  /* Number of times that the stub reported the last request as damaged. */
	unsigned damaged; /* Number of damaged packets in a row. */

	/* The stub's features. */
	size_t packet_size; /* Maximum payload of a request, in bytes. */
	bool no_ack;	    /* Neither side acknowledges packets. */
	/*
	 * Several requests may be sent together: the stub accepts the next request before the client has acknowledged the reply
	 * to the last one.
	 */
	bool together;
	bool binary_read;  /* The stub has the request `x`, which reads memory in binary. */
	bool binary_write; /* The stub has the request `X`, which writes memory in binary. */
	bool physical;	   /* The stub can interpret addresses as guest-physical. */
	bool was_physical; /* The stub interpreted addresses as guest-physical when the client connected. */
	struct regmap map;

	/* The thread (a CPU) that the last packet `Hg` selected for requests about registers and memory. 0: none. */
	uint32_t general_thread;

	/* Input. */
	uint8_t in[RSP_INPUT];		     /* Received bytes. */
	size_t in_start;		     /* Index in `in` of the first byte that was not parsed yet. */
	size_t in_len;			     /* Number of bytes in `in`, from in_start on, that were not parsed yet. */
	uint8_t payload[RSP_PACKET_MAX + 1]; /* The payload of the last packet, with a NUL after it. */
	size_t payload_len;

	/* Output. */
	/*
	 * The packets that were sent last, framed, with a '+' before them. They are kept until the next packets are sent: a
	 * single packet is sent again if the stub reports it as damaged.
	 */
	uint8_t out[RSP_OUTPUT];
	size_t out_len;
	unsigned out_packets; /* Number of packets in `out`. */
	bool unsent;	      /* The packets in `out` wait to be sent together with the next packet. */
	bool owe_ack;	      /* The last received packet is not acknowledged yet. The next packet sent carries the '+'. */
};

/* ---- io.c ---- */

/* Make the client dead (rsp.h). `fmt` is a printf() format of the reason. Returns -1. */
int rsp_die(struct rsp *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Keep a request's payload, which must be escaped already, to be sent together with the next request. Returns 0, or -1 when the
 * client is dead.
 */
int rsp_keep(struct rsp *r, const char *payload, size_t len);

/* Send the packets that rsp_keep() has kept. Returns 0, or -1 when the client is dead. */
int rsp_send_kept(struct rsp *r);

/* Send the packets that rsp_keep() has kept, and then a packet with this payload. Returns 0, or -1 when the client is dead. */
int rsp_send(struct rsp *r, const char *payload, size_t len);

/* Send the '+' that rsp.owe_ack stands for. Call this if the client sends no further packet, which would carry the '+'. */
void rsp_send_ack(struct rsp *r);

/*
 * Receive the next packet into rsp.payload. Returns 1, 0 if no packet arrives until `deadline_ns` (CLOCK_MONOTONIC), or -1 if
 * the client is dead. Too much useless input makes the client dead, too.
 */
int rsp_receive(struct rsp *r, uint64_t deadline_ns);

/*
 * Count the last received packet as useless input. Returns 0, or -1 if there was too much useless input since the last request,
 * which makes the client dead.
 */
int rsp_ignore(struct rsp *r);

/* ---- reply.c ---- */

/*
 * Returns true and sets `stop` if rsp.payload reports a stop of the machine. If it reports the machine's end, the client
 * becomes dead, and the function returns false.
 */
bool rsp_is_stop(struct rsp *r, struct rsp_stop *stop);

/*
 * Send a request and receive the reply into rsp.payload. The payload of the request is, for rsp_ask(), the text that printf()
 * would write, and for rsp_ask_bytes() the `len` bytes at `payload`. An empty reply means that the stub does not support the
 * request. Returns 0, or -1 when the client is dead.
 */
int rsp_ask(struct rsp *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int rsp_ask_bytes(struct rsp *r, const char *payload, size_t len);

/* Receive one more packet of the reply to the last request, before rsp.reply_ns. Returns 0, or -1 when the client is dead. */
int rsp_next_reply(struct rsp *r);

/*
 * Ask QEMU's monitor whether the machine may have been running before the client connected, and store the answer in
 * rsp.was_running. To be called if rsp.was_running is false. QEMU 8.1 and newer stop the machine when a client connects,
 * without a report; so a machine that its user had paused before looks as if it had been running. QEMU before 8.1 reports the
 * stop, and other stubs have no monitor: for these, rsp.was_running stays unchanged. Returns 0, or -1 when the client is dead.
 */
int rsp_ask_whether_it_ran(struct rsp *r);

/* Returns true if the reply equals `what`. */
bool rsp_said(const struct rsp *r, const char *what);

#endif
