// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `outrider agent`: sends commands to the guest agent (docs/guest-agent.md). The agent connects to the host, so this command
 * listens on the socket of the agent's port until the agent has connected.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hv/base/clean.h"
#include "hv/base/clock.h"
#include "hv/cli/cli.h"
#include "hv/vmm/vsock/host.h"

#define PORT 999 /* AGENT_PORT of the guest agent */
#define DEFAULT_CID 3
#define DEFAULT_TIMEOUT UINT64_C(10000000000) /* ns */
#define COMMAND_MAX 511			      /* maximum number of bytes that the agent accepts in one line */
#define LINE_MAX_LEN 4096
#define ADVICE "end the other `outrider agent`, or name the machine by --vsock or --socket"

enum agent_exit { EXIT_JOB_FAILED = 1 };

struct agent_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	uint64_t cid;
	const char *socket; /* socket of the machine's vsock device; NULL: the default of `cid` */
	uint64_t timeout;   /* ns */
	bool wait;
	char command[COMMAND_MAX + 1]; /* "": no command was given; commands come from standard input */
};

enum agent_key { KEY_VSOCK = 0x100, KEY_SOCKET, KEY_TIMEOUT, KEY_WAIT };

static const struct argp_option options[] = {
	{"vsock", KEY_VSOCK, "CID", 0, "the machine that was started with --vsock CID (default 3)", 0},
	{"socket", KEY_SOCKET, "PATH", 0, "the machine that was started with --vsock CID,socket=PATH", 0},
	{"timeout", KEY_TIMEOUT, "TIME", 0,
	 "wait this long for the agent to connect, and as long again for its answer (default 10s)", 0},
	{"wait", KEY_WAIT, NULL, 0,
	 "wait until the job that was started has ended, or the jobs that were stopped, or the guest that was powered off", 0},
	{0},
};

static const char doc[] =
	"Tell the agent in a guest what to do: help, workloads, status, start NAME[:ARGS], stop [JOB], enough NAME, poweroff. "
	"Without a command, print what the agent says, and send it the lines of standard input.\v"
	"docs/guest-agent.md describes the agent and its words.";

/* ---- options ---- */

static error_t add_word(struct agent_options *o, const char *word, struct argp_state *state)
{
	size_t len = strlen(o->command);

	if (strpbrk(word, "\r\n"))
		return cli_usage(state, "a command for the agent is one line");
	if (snprintf(o->command + len, sizeof(o->command) - len, "%s%s", len ? " " : "", word) >=
	    (int)(sizeof(o->command) - len))
		return cli_usage(state, "a command for the agent has at most %d bytes", COMMAND_MAX);
	return 0;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct agent_options *o = state->input;

	switch (key) {
	case KEY_VSOCK:
		if (cli_number(arg, 3, UINT32_MAX - 1, &o->cid) < 0)
			return cli_usage(state, "--vsock %s: give a context id from 3", arg);
		return 0;
	case KEY_SOCKET:
		o->socket = arg;
		return 0;
	case KEY_TIMEOUT:
		if (cli_time(arg, &o->timeout) < 0 || o->timeout == 0)
			return cli_usage(state, "--timeout %s: give a time above 0, for example 30s or 5m", arg);
		return 0;
	case KEY_WAIT:
		o->wait = true;
		return 0;
	case ARGP_KEY_ARG:
		return add_word(o, arg, state);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp cli_agent_argp = {.options = options, .parser = parser, .args_doc = "[COMMAND...]", .doc = doc};

/* ---- the dialogue ---- */

struct dialogue {
	const struct agent_options *options;
	int fd;
	char in[LINE_MAX_LEN];
	size_t in_len;
	bool answered;	     /* "ok" or "error" was received */
	bool refused;	     /* the agent's reply was "error" */
	bool failed;	     /* a job of --wait has failed */
	unsigned long job;   /* the job to wait for; 0: any job */
	unsigned long waits; /* number of jobs that must still end */
	uint64_t deadline;   /* deadline for the answer, as monotonic_ns() */
};

static bool begins(const char *line, const char *word)
{
	size_t len = strlen(word);

	return strncmp(line, word, len) == 0 && (line[len] == ' ' || line[len] == '\0');
}

/*
 * Returns the number of the field "KEY=NUMBER" in the line, or 0 if the line has no such field. `key` includes the blank before
 * the name and the "=", as in " job=".
 */
static unsigned long field(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

static bool is_unasked(const char *line)
{
	return begins(line, "hello") || begins(line, "heartbeat") || begins(line, "progress") || begins(line, "output") ||
	       begins(line, "done");
}

/* Update the state of the dialogue with a line from the agent. */
static void follow(struct dialogue *d, const char *line)
{
	if (begins(line, "done") && d->waits && (!d->job || field(line, " job=") == d->job)) {
		d->waits--;
		d->failed |= d->job && field(line, " rc=") != 0;
	}
	if (d->answered || (!begins(line, "ok") && !begins(line, "error")))
		return;
	d->answered = true;
	d->refused = begins(line, "error");
	if (!d->options->wait || d->refused)
		return;
	d->job = field(line, " job=");
	d->waits = d->job ? 1 : field(line, " stopping=");
}

/*
 * Print a line from the agent if the user asked for it. If the user gave a command, print only its reply and, with --wait, all
 * lines after the reply.
 */
static void show(struct dialogue *d, char *line)
{
	bool unasked = is_unasked(line), waiting = d->answered && d->options->wait;

	clean_line(line, strlen(line) + 1);
	if (d->options->command[0] && unasked && !waiting)
		return;
	printf("%s\n", line);
	fflush(stdout);
}

/* Read from the agent. Returns false if the agent has closed the connection. */
static bool read_agent(struct dialogue *d)
{
	ssize_t n = recv(d->fd, d->in + d->in_len, sizeof(d->in) - 1 - d->in_len, MSG_DONTWAIT);
	char *end, *line = d->in;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0)
		return false;
	d->in_len += (size_t)n;
	d->in[d->in_len] = '\0';
	while ((end = memchr(line, '\n', d->in_len - (size_t)(line - d->in)))) {
		*end = '\0';
		follow(d, line);
		show(d, line);
		line = end + 1;
	}
	d->in_len -= (size_t)(line - d->in);
	memmove(d->in, line, d->in_len);
	/* Drop a line that fills the buffer. The agent's lines are shorter. */
	if (d->in_len == sizeof(d->in) - 1)
		d->in_len = 0;
	return true;
}

static bool is_over(const struct dialogue *d)
{
	if (!d->options->command[0] || !d->answered)
		return false;
	/*
	 * The command is done at once if the agent refused it, or without --wait. With --wait it is done when all jobs have
	 * ended; after a poweroff, only when the agent closes the connection.
	 */
	return d->refused || !d->options->wait || (!d->waits && strcmp(d->options->command, "poweroff") != 0);
}

/* Send bytes of standard input to the agent. Returns false at the end of standard input. */
static bool send_input(const struct dialogue *d)
{
	char data[COMMAND_MAX];
	ssize_t n = read(STDIN_FILENO, data, sizeof(data));

	return n > 0 && send(d->fd, data, (size_t)n, MSG_NOSIGNAL) == n;
}

static int poll_ms(uint64_t deadline)
{
	uint64_t now = monotonic_ns();

	return now >= deadline ? 0 : deadline - now > UINT64_C(3600000000000) ? 3600000 : (int)((deadline - now) / 1000000) + 1;
}

/*
 * Exchange lines with the agent until the command is done (is_over()). Returns the exit code. Sets `err` on a failure, except
 * if the agent refused the command or a job failed: the agent's lines, which are printed, say so.
 */
static int speak(struct dialogue *d, struct err *err)
{
	const char *command = d->options->command;
	struct pollfd fds[] = {{.fd = d->fd, .events = POLLIN}, {.fd = command[0] ? -1 : STDIN_FILENO, .events = POLLIN}};

	if (command[0] && dprintf(d->fd, "%s\n", command) < 0)
		return err_set(err, EXIT_INPUT, "the agent has hung up; try again"), EXIT_INPUT;
	while (!is_over(d)) {
		bool limited = command[0] && !d->answered;

		if (poll(fds, 2, limited ? poll_ms(d->deadline) : -1) < 0 && errno != EINTR)
			return err_set(err, EXIT_INTERNAL, "poll: %s", strerror(errno)), EXIT_INTERNAL;
		if (fds[0].revents && !read_agent(d)) {
			if (!command[0] || (strcmp(command, "poweroff") == 0 && d->answered))
				return EXIT_OK;
			return err_set(err, EXIT_INPUT,
				       "the agent has hung up before the command was done; is the guest still up?"),
			       EXIT_INPUT;
		}
		if (fds[1].revents && !send_input(d))
			fds[1].fd = -1;
		if (limited && !d->answered && monotonic_ns() >= d->deadline)
			return err_set(err, EXIT_INPUT, "the agent does not answer; is the guest stopped?"), EXIT_INPUT;
	}
	if (d->refused)
		return EXIT_INPUT;
	return d->failed ? EXIT_JOB_FAILED : EXIT_OK;
}

/* Wait for the first byte of the agent's greeting. Returns false if the connection ended before it, or the time has passed. */
static bool greets(int fd, uint64_t deadline)
{
	struct pollfd fds = {.fd = fd, .events = POLLIN};
	char first;

	while (poll(&fds, 1, poll_ms(deadline)) < 0 && errno == EINTR)
		;
	return recv(fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

/*
 * Wait for the agent to connect and to greet. On a busy host, the host's answer may take longer than 2 s. The guest then gives
 * up the connection and connects again, so a connection can end without a greeting. Returns the connection, or -1 with `err`
 * set.
 */
static int await_agent(int listener, const char *machine, uint64_t deadline, struct err *err)
{
	struct pollfd fds = {.fd = listener, .events = POLLIN};
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0 || !greets(fd, deadline)) {
		if (fd >= 0)
			close(fd);
		if (monotonic_ns() < deadline)
			poll(&fds, 1, poll_ms(deadline));
		else if (access(machine, F_OK) < 0)
			return err_set(err, EXIT_INPUT, "no machine has the vsock socket %s; start one by outrider run --vsock",
				       machine);
		else
			return err_set(err, EXIT_INPUT,
				       "no agent connected; run `outrider-guest-agent serve` in the guest, or wait longer by "
				       "--timeout");
	}
	return fd;
}

static int speak_to_agent(const struct agent_options *o, struct err *err)
{
	struct dialogue d = {.options = o, .deadline = monotonic_ns() + o->timeout};
	char machine[VSOCK_PATH_MAX], path[VSOCK_PATH_MAX + 16];
	int listener, rc = EXIT_OK;

	if (o->socket)
		snprintf(machine, sizeof(machine), "%s", o->socket);
	else if (vsock_default_path((uint32_t)o->cid, machine, err) < 0)
		return err->code;
	snprintf(path, sizeof(path), "%s_%d", o->socket ? o->socket : machine, PORT);
	listener = vsock_listen(path, ADVICE, err);
	if (listener < 0)
		return err->code;
	d.fd = await_agent(listener, machine, d.deadline, err);
	/* Remove the socket: only one agent connects. */
	unlink(path);
	close(listener);
	if (d.fd < 0)
		return err->code;
	d.deadline = monotonic_ns() + o->timeout;
	rc = speak(&d, err);
	close(d.fd);
	return rc;
}

int cli_agent(int argc, char **argv)
{
	struct err err = {0};
	struct agent_options o = {.input = {&err}, .cid = DEFAULT_CID, .timeout = DEFAULT_TIMEOUT};
	int rc;

	if (cli_parse(&cli_agent_argp, argc, argv, &o.input) < 0)
		return cli_fail(&err);
	rc = speak_to_agent(&o, &err);
	return err.code == EXIT_OK ? rc : cli_fail(&err);
}
