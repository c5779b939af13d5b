// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The workload "serve": one loop that polls the agent's signals, its connection to the host (link.h) and the output of its jobs
 * (job.h). The loop carries out the host's commands (protocol.h), and sends messages of one line, such as heartbeats
 * (docs/guest-agent.md).
 */
#include "serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"
#include "job.h"
#include "link.h"
#include "named_commands.h"
#include "protocol.h"
#include "workloads.h"

#define JOBS 16
#define HEARTBEAT 5.0 /* seconds */
#define PREFIX "outrider-agent: "

/* Indices of the polled descriptors: the signals, the link, and then the outputs of the jobs. */
enum { POLL_SIGNALS, POLL_LINK, POLL_JOBS, POLL_COUNT = POLL_JOBS + JOBS };

struct server {
	struct link link;
	struct line_reader reader; /* for lines from the host */
	/* bytes from the host that are not parsed yet: `input_len` bytes, which begin at input[input_at] */
	char input[4096];
	size_t input_at, input_len;
	struct job job[JOBS];
	unsigned int last_job;
	const char *commands; /* file of the configured commands */
	double heartbeat, next_heartbeat;
	unsigned long dropped; /* number of lines that jobs printed and the agent did not send, since the last heartbeat */
	sigset_t before;
	int signals;
	bool over; /* SIGTERM came, or the host said poweroff: return once all jobs have ended */
	bool power_off;
};

/* ---- messages without a command ---- */

static unsigned int running_jobs(const struct server *s)
{
	unsigned int n = 0;

	for (int i = 0; i < JOBS; i++)
		n += s->job[i].state == JOB_RUNNING || s->job[i].state == JOB_STOPPING;
	return n;
}

static void send_hello(struct server *s)
{
	struct utsname u = {0};

	uname(&u);
	s->reader = (struct line_reader){0};
	s->input_len = 0;
	s->next_heartbeat = now() + s->heartbeat;
	link_send(&s->link, false, "hello protocol=1 cpus=%ld heartbeat=%g uptime=%.2f jobs=%u kernel=%s",
		  sysconf(_SC_NPROCESSORS_ONLN), s->heartbeat, now(), running_jobs(s), u.release);
}

static void send_heartbeat(struct server *s)
{
	char text[1024];

	if (now() < s->next_heartbeat)
		return;
	s->next_heartbeat = now() + s->heartbeat;
	if (link_send(&s->link, true, "heartbeat uptime=%.2f jobs=%u dropped=%lu", now(), running_jobs(s), s->dropped))
		s->dropped = 0;
	for (int i = 0; i < JOBS && s->link.state == LINK_UP; i++) {
		if (s->job[i].state != JOB_RUNNING && s->job[i].state != JOB_STOPPING)
			continue;
		job_describe(&s->job[i], text, sizeof(text));
		link_send(&s->link, true, "progress %s", text);
	}
}

/* Send a line that the job has printed to the host. The line is in the job's line reader. */
static void send_output(struct server *s, struct job *job)
{
	char *text = job->reader.text;

	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = *c == '\t' ? ' ' : '?';
	job->lines++;
	/*
	 * Remove PREFIX, with which the agent's own workloads begin each line on a console. The host does not need this prefix,
	 * because the message names the job.
	 */
	if (!strncmp(text, PREFIX, strlen(PREFIX)))
		text += strlen(PREFIX);
	s->dropped += !link_send(&s->link, true, "output job=%u %s", job->number, text);
}

static void read_output(struct server *s, struct job *job)
{
	char data[4096];
	ssize_t n = read(job->output, data, sizeof(data));
	enum line_state state;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close(job->output);
		job->output = -1;
		return;
	}
	/* A line longer than LINE_LENGTH is sent without the bytes beyond that length. */
	for (size_t at = 0; at < (size_t)n;) {
		at += line_take(&job->reader, data + at, (size_t)n - at, &state);
		if (state != LINE_MORE)
			send_output(s, job);
	}
}

/* ---- commands ---- */

static void send_text(struct server *s, const char *kind, char *text)
{
	char *save;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		link_send(&s->link, false, "%s %s", kind, line + strspn(line, " "));
}

/* Call `print` with a file in memory, and send each line that it prints, with `kind` as the first word. */
static void send_printed(struct server *s, const char *kind, void (*print)(FILE *out))
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	print(out);
	fclose(out);
	send_text(s, kind, text);
	free(text);
}

static void print_verbs(FILE *out)
{
	commands_print(out, "");
}

static void send_command(void *ctx, const struct named_command *c)
{
	struct server *s = ctx;

	link_send(&s->link, false, "command %s: %s: %s", c->name, c->percpu ? "percpu" : "once", c->command);
}

static void send_status(struct server *s)
{
	char text[1024];

	for (int i = 0; i < JOBS; i++) {
		if (s->job[i].state == JOB_NONE)
			continue;
		job_describe(&s->job[i], text, sizeof(text));
		link_send(&s->link, false, "job %s", text);
	}
	link_send(&s->link, false, "ok jobs=%u uptime=%.2f", running_jobs(s), now());
}

/*
 * Returns an entry of s->job[] for a new job: a free entry, or that of the job that ended first. Returns NULL if all jobs are
 * running.
 */
static struct job *free_place(struct server *s)
{
	struct job *oldest = NULL;

	for (int i = 0; i < JOBS; i++) {
		struct job *job = &s->job[i];

		if (job->state == JOB_NONE)
			return job;
		if (job->state == JOB_ENDED && (!oldest || job->end < oldest->end))
			oldest = job;
	}
	if (oldest)
		job_forget(oldest);
	return oldest;
}

static void start_job(struct server *s, const char *word)
{
	struct job *job = s->over ? NULL : free_place(s);
	char why[128];

	if (s->over)
		link_send(&s->link, false, "error the agent is about to end");
	else if (!job)
		link_send(&s->link, false, "error %d jobs are running, and there is no room for more", JOBS);
	else if (job_start(job, s->last_job + 1, word, s->commands, why, sizeof(why)) < 0)
		link_send(&s->link, false, "error %s", why);
	else {
		s->last_job++;
		say("job %u: %s: start", job->number, word);
		link_send(&s->link, false, "ok job=%u", job->number);
	}
}

/* Stop the job of that number, or all jobs if `number` is 0. Returns how many running jobs it stopped. */
static unsigned int stop_jobs(struct server *s, unsigned int number)
{
	unsigned int n = 0;

	for (int i = 0; i < JOBS; i++) {
		struct job *job = &s->job[i];

		if ((job->state != JOB_RUNNING && job->state != JOB_STOPPING) || (number && job->number != number))
			continue;
		job_stop(job);
		n++;
	}
	return n;
}

static void stop_command(struct server *s, unsigned int number)
{
	unsigned int n = stop_jobs(s, number);

	if (number && !n)
		link_send(&s->link, false, "error no job %u is running", number);
	else
		link_send(&s->link, false, "ok stopping=%u", n);
}

static void tell_jobs(struct server *s, const char *name)
{
	char line[LINE_LENGTH + 16];

	snprintf(line, sizeof(line), "enough %s\n", name);
	for (int i = 0; i < JOBS; i++)
		if (s->job[i].state == JOB_RUNNING)
			job_tell(&s->job[i], line);
	link_send(&s->link, false, "ok");
}

static void obey(struct server *s, const char *line)
{
	struct command c;

	command_read(line, &c);
	switch (c.verb) {
	case VERB_HELP:
		send_printed(s, "usage", print_verbs);
		link_send(&s->link, false, "ok");
		break;
	case VERB_WORKLOADS:
		send_printed(s, "workload", workloads_print);
		named_commands_each(s->commands, send_command, s);
		link_send(&s->link, false, "ok");
		break;
	case VERB_STATUS:
		send_status(s);
		break;
	case VERB_START:
		start_job(s, c.argument);
		break;
	case VERB_STOP:
		stop_command(s, c.job);
		break;
	case VERB_ENOUGH:
		tell_jobs(s, c.argument);
		break;
	case VERB_POWEROFF:
		s->over = s->power_off = true;
		link_send(&s->link, false, "ok stopping=%u", stop_jobs(s, 0));
		break;
	case VERB_EMPTY:
		break;
	case VERB_BAD:
		link_send(&s->link, false, "error %s", c.why);
		break;
	}
}

/*
 * Returns whether the queue to the host has room for the reply to one more command. Without room the agent reads no commands,
 * so a host that sends faster than it reads loses no reply.
 */
static bool can_answer(const struct server *s)
{
	return s->link.out_len < LINK_ROOM / 2;
}

/* Carry out the complete lines that have come from the host, as long as the queue to the host has room for replies. */
static void obey_host(struct server *s)
{
	enum line_state state;

	while (s->input_len && can_answer(s)) {
		size_t n = line_take(&s->reader, s->input + s->input_at, s->input_len, &state);

		s->input_at += n;
		s->input_len -= n;
		if (state == LINE_WHOLE)
			obey(s, s->reader.text);
		else if (state == LINE_TOO_LONG)
			link_send(&s->link, false, "error the line is longer than %d bytes", LINE_LENGTH);
	}
}

static void read_host(struct server *s)
{
	s->input_at = 0;
	s->input_len = link_read(&s->link, s->input, sizeof(s->input));
}

/* ---- the loop ---- */

static void end_job(struct server *s, struct job *job, int status)
{
	/*
	 * First send the job's remaining output, then the message "done". The runner ends after all other processes of the job,
	 * so no further output comes.
	 */
	while (job->output >= 0) {
		struct pollfd output = {.fd = job->output, .events = POLLIN};

		if (poll(&output, 1, 0) <= 0)
			break;
		read_output(s, job);
	}
	job_ended(job, status);
	say("job %u: %s: done rc=%d seconds=%.2f", job->number, job->word, job->rc, job->end - job->start);
	link_send(&s->link, false, "done job=%u rc=%d seconds=%.2f rounds=%lu lines=%lu word=%s", job->number, job->rc,
		  job->end - job->start, atomic_load(job->rounds), job->lines, job->word);
}

static void reap(struct server *s)
{
	int status, pid;

	/* waitpid() also returns processes that are no runners: process 1 and subreapers become the parent of orphans. */
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (int i = 0; i < JOBS; i++)
			if ((s->job[i].state == JOB_RUNNING || s->job[i].state == JOB_STOPPING) && s->job[i].runner == pid)
				end_job(s, &s->job[i], status);
}

static void take_signals(struct server *s)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		s->over = true;
		stop_jobs(s, 0);
	}
	reap(s);
}

/* Returns how long poll() may sleep, in milliseconds, or -1 for no limit. */
static int patience(const struct server *s)
{
	double until = s->link.state == LINK_DOWN ? s->link.retry_at : s->next_heartbeat, left = until - now();

	if (s->link.state == LINK_CALLING)
		return -1;
	return left <= 0 ? 0 : left > 3600 ? 3600000 : (int)(left * 1000) + 1;
}

static void turn(struct server *s)
{
	struct pollfd fds[POLL_COUNT];

	if (link_try(&s->link))
		send_hello(s);
	fds[POLL_SIGNALS] = (struct pollfd){.fd = s->signals, .events = POLLIN};
	fds[POLL_LINK] = (struct pollfd){.fd = s->link.fd, .events = link_events(&s->link, !s->input_len && can_answer(s))};
	for (int i = 0; i < JOBS; i++) {
		int fd = s->job[i].state == JOB_NONE ? -1 : s->job[i].output;

		fds[POLL_JOBS + i] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	if (poll(fds, POLL_COUNT, patience(s)) < 0)
		return;
	for (int i = 0; i < JOBS; i++)
		if (fds[POLL_JOBS + i].revents)
			read_output(s, &s->job[i]);
	if (fds[POLL_SIGNALS].revents)
		take_signals(s);
	if (link_ready(&s->link, fds[POLL_LINK].revents))
		send_hello(s);
	if (fds[POLL_LINK].revents & POLLIN)
		read_host(s);
	obey_host(s);
	if (s->link.state == LINK_UP)
		send_heartbeat(s);
}

static bool open_signals(struct server *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, &s->before);
	s->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return s->signals >= 0;
}

void serve_print_options(FILE *out)
{
	fprintf(out, "    --port PORT: the port of the host to connect to by vsock (default %d)\n", AGENT_PORT);
	fprintf(out, "    --console PATH: a serial line or a port of a virtio console to use instead of vsock\n");
	fprintf(out, "    --heartbeat SECONDS: the time between two messages that the guest is alive (default %g)\n",
		HEARTBEAT);
	fprintf(out, "    --commands FILE: the commands that the host may start (default " NAMED_COMMANDS_FILE ")\n");
}

/* Set the option `name`. If the option is not valid, write why and return false. */
static bool set_option(struct server *s, const char *name, const char *value)
{
	unsigned long port;
	char *end;

	if (!strcmp(name, "--heartbeat"))
		return parse_seconds(value, &s->heartbeat);
	if (!strcmp(name, "--commands")) {
		s->commands = value;
		return true;
	}
	if (!strcmp(name, "--console")) {
		s->link.console = value;
		return true;
	}
	if (strcmp(name, "--port") != 0) {
		say("serve: %s is no option; see --help", name);
		return false;
	}
	errno = 0;
	port = strtoul(value, &end, 10);
	if (*end || value[0] < '0' || value[0] > '9' || errno || port < 1 || port >= UINT32_MAX) {
		say("serve: --port %s: give a number from 1 to 4294967294", value);
		return false;
	}
	s->link.port = (unsigned int)port;
	return true;
}

static bool read_options(struct server *s, int argc, char *const argv[])
{
	for (int i = 0; i < argc; i += 2) {
		if (i + 1 == argc) {
			say("serve: %s has no value, or is no option; see --help", argv[i]);
			return false;
		}
		if (!set_option(s, argv[i], argv[i + 1]))
			return false;
	}
	return true;
}

static int serve_host(struct server *s)
{
	if (!open_signals(s))
		return say_failed("serve: signals");
	/* If a runner is killed, the processes of its job become children of this process, which waits for them. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	say("serving");
	while (!s->over || running_jobs(s))
		turn(s);
	for (int i = 0; i < JOBS; i++)
		job_forget(&s->job[i]);
	link_finish(&s->link);
	close(s->signals);
	sigprocmask(SIG_SETMASK, &s->before, NULL);
	return AGENT_OK;
}

int serve(int argc, char *const argv[], bool *power_off)
{
	struct server *s = calloc(1, sizeof(*s));
	int rc = AGENT_USAGE;

	*power_off = false;
	if (!s)
		return say_failed("serve");
	s->heartbeat = HEARTBEAT;
	s->commands = NAMED_COMMANDS_FILE;
	link_init(&s->link, NULL, AGENT_PORT);
	if (read_options(s, argc, argv))
		rc = serve_host(s);
	*power_off = s->power_off;
	free(s);
	return rc;
}

void serve_power_off(void)
{
	sync();
	execlp("systemctl", "systemctl", "poweroff", NULL);
	execlp("poweroff", "poweroff", NULL);
	say_failed("serve: power off");
}
