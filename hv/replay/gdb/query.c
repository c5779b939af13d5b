// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers packets that ask for properties of the server and its machine, and carries out the commands of gdb's `monitor`. */
#include <string.h>

#include "hv/replay/gdb/server.h"

static bool has_feature(const struct cursor *c, const char *name)
{
	return memmem(c->at, (size_t)(c->end - c->at), name, strlen(name)) != NULL;
}

static void supported(struct server *s, struct cursor c)
{
	s->swbreak = has_feature(&c, "swbreak+");
	s->hwbreak = has_feature(&c, "hwbreak+");
	reply_text(s,
		   "PacketSize=%x;qXfer:features:read+;vContSupported+;QStartNoAckMode+;multiprocess-;swbreak+;hwbreak+;"
		   "binary-upload+",
		   LINK_REPLY_MAX);
}

/* Reply with a part of the target description: `m` and the bytes of the part, or `l` and the bytes if this is the last part. */
static void features(struct server *s, struct cursor c)
{
	uint64_t offset, len;

	if (!skip(&c, "target.xml:") || !number(&c, &offset) || !skip(&c, ",") || !number(&c, &len))
		return refuse(s, REFUSED_FORM);
	if (offset > s->xml_len)
		offset = s->xml_len;
	/* Send at most half of the bytes that a reply can have, because each byte may need an escape. */
	if (len > LINK_REPLY_MAX / 2 - 1)
		len = LINK_REPLY_MAX / 2 - 1;
	if (len > s->xml_len - offset)
		len = s->xml_len - offset;
	reply_text(s, offset + len < s->xml_len ? "m" : "l");
	reply_binary(s, (const uint8_t *)s->xml + offset, len);
}

static void first_threads(struct server *s, struct cursor c)
{
	(void)c;
	for (unsigned i = 0; i < s->machine->cpus; i++)
		reply_text(s, "%c%x", i ? ',' : 'm', i + 1);
}

static void no_more_threads(struct server *s, struct cursor c)
{
	(void)c;
	reply_text(s, "l");
}

static void thread_info(struct server *s, struct cursor c)
{
	char text[GDB_TEXT_MAX] = "";
	unsigned cpus;

	if (!thread(s, &c, &cpus))
		return refuse(s, REFUSED_FORM);
	s->machine->describe(s->machine->ctx, (unsigned)__builtin_ctz(cpus), text);
	reply_hex(s, text, strlen(text));
}

static void current_thread(struct server *s, struct cursor c)
{
	(void)c;
	reply_text(s, "QC%x", s->cpu + 1);
}

/*
 * Report that the machine existed before gdb connected, so that gdb, when it exits, detaches from the machine instead of asking
 * whether to kill it.
 */
static void attached(struct server *s, struct cursor c)
{
	(void)c;
	reply_text(s, "1");
}

static void no_symbols_wanted(struct server *s, struct cursor c)
{
	(void)c;
	reply_text(s, "OK");
}

static void monitor(struct server *s, struct cursor c)
{
	char command[GDB_TEXT_MAX] = "", out[GDB_ANSWER_MAX] = "";
	size_t len = (size_t)(c.end - c.at);

	if (len % 2 || len / 2 >= sizeof(command) || rsp_from_hex(c.at, len / 2, (uint8_t *)command) < 0)
		return refuse(s, REFUSED_FORM);
	s->machine->command(s->machine->ctx, command, out);
	if (out[0])
		say(s, out);
	reply_text(s, "OK");
}

static void no_ack(struct server *s, struct cursor c)
{
	(void)c;
	/*
	 * The client may or may not acknowledge the reply to QStartNoAckMode. Set `no_ack` before this reply is sent, so that
	 * the server ignores the acknowledgement if one comes.
	 */
	s->link.no_ack = true;
	reply_text(s, "OK");
}

struct query {
	const char *name;
	handler *answer;
};

static void look_up(struct server *s, struct cursor c, const struct query *queries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (skip(&c, queries[i].name))
			return queries[i].answer(s, c);
}

void query_get(struct server *s, struct cursor c)
{
	static const struct query queries[] = {
		{"Supported", supported},
		{"Xfer:features:read:", features},
		{"fThreadInfo", first_threads},
		{"sThreadInfo", no_more_threads},
		{"ThreadExtraInfo,", thread_info},
		{"Attached", attached},
		{"Symbol:", no_symbols_wanted},
		{"Rcmd,", monitor},
		/*
		 * The packet has only "C". Names of other packets begin with "C", too: the check below leaves these packets
		 * unanswered.
		 */
		{"C", current_thread},
	};

	if (c.end - c.at > 1 && *c.at == 'C')
		return;
	look_up(s, c, queries, sizeof(queries) / sizeof(queries[0]));
}

void query_set(struct server *s, struct cursor c)
{
	static const struct query queries[] = {{"StartNoAckMode", no_ack}};

	look_up(s, c, queries, sizeof(queries) / sizeof(queries[0]));
}
