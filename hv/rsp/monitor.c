// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks QEMU's monitor about the machine, through the stub (qRcmd). Stubs other than QEMU's have no such monitor. */
#include <stdio.h>
#include <string.h>

#include "hv/rsp/internal.h"

#define COMMAND_MAX 32u

/*
 * Append the output in the last received packet, an 'O' and hexadecimal digits, to `text` of `size` bytes. Drop what does not
 * fit.
 */
static void add_output(const struct rsp *r, char *text, size_t size)
{
	size_t have = strlen(text), n = (r->payload_len - 1) / 2;

	n = n < size - 1 - have ? n : size - 1 - have;
	if (rsp_from_hex(r->payload + 1, n, (uint8_t *)text + have) == 0)
		text[have + n] = 0;
	else
		text[have] = 0;
}

/* Run a monitor command. Returns 0 with its output in `text`, "" if there is no monitor; or -1 when the client is dead. */
static int ask_monitor(struct rsp *r, const char *command, char *text, size_t size)
{
	char hex[2 * COMMAND_MAX + 1] = {0};

	text[0] = 0;
	rsp_to_hex((const uint8_t *)command, strnlen(command, COMMAND_MAX), hex);
	if (rsp_ask(r, "qRcmd,%s", hex))
		return -1;
	while (r->payload_len > 1 && r->payload[0] == 'O' && !rsp_said(r, "OK")) {
		add_output(r, text, size);
		if (rsp_next_reply(r))
			return -1;
	}
	return 0;
}

int rsp_ask_whether_it_ran(struct rsp *r)
{
	unsigned major, minor;
	char text[128];

	if (ask_monitor(r, "info version", text, sizeof(text)))
		return -1;
	if (sscanf(text, "%4u.%4u", &major, &minor) != 2 || major < 8 || (major == 8 && minor < 1))
		return 0;
	if (ask_monitor(r, "info status", text, sizeof(text)))
		return -1;
	/*
	 * Only "paused": the connection has stopped the machine, or its user has paused it. If the machine has not begun to
	 * run, or has failed, QEMU prints a reason in parentheses after "paused".
	 */
	r->was_running = strncmp(text, "VM status: paused\r", 18) == 0;
	return 0;
}
