// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starts and ends a helper: a process beside the run, in which no guest runs. A socket connects it to the run, and a pipe takes
 * what it writes to its standard output and error.
 */
#include "hv/sandbox/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hv/base/clean.h"
#include "hv/base/die_with.h"

/* At most this many bytes are kept of the end of a helper's output: enough for the message of a failed assertion. */
#define WORDS_MAX 256

/* Ignore Ctrl-C and the other signals that end a run. The run handles them and then ends this process. */
static void leave_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

/*
 * Close all file descriptors except `socket`, which becomes 0, and `output`, which becomes 1 and 2. So no descriptor that the
 * process opens later becomes a standard stream.
 */
static bool keep_only(int socket, int output)
{
	return dup2(socket, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 && dup2(STDOUT_FILENO, STDERR_FILENO) >= 0 &&
	       close_range(STDERR_FILENO + 1, ~0u, 0) == 0;
}

static void close_both(const int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

int helper_start(struct helper *h, void (*serve)(void *ctx, pid_t parent, int socket), void *ctx, struct err *err)
{
	pid_t parent = getpid(), pid;
	int ends[2], output[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_set(err, EXIT_INTERNAL, "socketpair: %s", strerror(errno));
	if (pipe2(output, O_CLOEXEC | O_NONBLOCK) < 0) {
		close_both(ends);
		return err_set(err, EXIT_INTERNAL, "pipe: %s", strerror(errno));
	}
	pid = fork();
	if (pid == 0) {
		leave_signals();
		die_with(parent);
		if (!keep_only(ends[1], output[1]))
			_exit(EXIT_INTERNAL);
		serve(ctx, parent, STDIN_FILENO);
		_exit(0);
	}
	close(ends[1]);
	close(output[1]);
	if (pid < 0) {
		close(ends[0]);
		close(output[0]);
		return err_set(err, EXIT_INTERNAL, "fork: %s", strerror(errno));
	}
	*h = (struct helper){.pid = pid, .owner = parent, .socket = ends[0], .output = output[0]};
	return 0;
}

/*
 * Wait until the process has closed its end of the socket, and drop messages that it still sends. Returns false after
 * `patience_ms` without a message.
 */
static bool has_ended(const struct helper *h, int patience_ms)
{
	struct pollfd ready = {.fd = h->socket, .events = POLLIN};
	char rest[64];
	ssize_t n = 1;

	while (n > 0 || (n < 0 && errno == EINTR)) {
		int rc = poll(&ready, 1, patience_ms);

		if (rc == 0)
			return false;
		n = rc < 0 ? -1 : read(h->socket, rest, sizeof(rest));
	}
	return true;
}

void helper_stop(struct helper *h, int patience_ms)
{
	if (!h->pid || h->owner != getpid())
		return;
	/*
	 * Use shutdown(2). After close(2), a copy of the machine may still have this end of the socket open, and then the
	 * helper would not read end-of-file.
	 */
	if (shutdown(h->socket, SHUT_WR) < 0 || has_ended(h, patience_ms))
		while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
			;
	close(h->socket);
	close(h->output);
	*h = (struct helper){.socket = -1, .output = -1};
}

/* Copy the end of the process's output into `words`, without trailing newlines. Returns the length of `words`. */
static size_t read_output(const struct helper *h, char words[WORDS_MAX])
{
	static const size_t room = 64 << 10; /* bytes: a pipe holds no more (pipe(7)) */
	char *all = malloc(room);
	ssize_t n = all ? read(h->output, all, room) : 0;
	size_t len = n > 0 ? (size_t)n : 0, kept;

	while (len && all[len - 1] == '\n')
		len--;
	kept = len < WORDS_MAX ? len : WORDS_MAX - 1;
	if (kept)
		memcpy(words, all + len - kept, kept);
	words[kept] = '\0';
	free(all);
	return kept;
}

/*
 * Wait up to `patience_ms` for the process to end. A process that has just closed its socket ends soon. Returns true if it has
 * ended.
 */
static bool await_end(const struct helper *h, unsigned patience_ms, siginfo_t *info)
{
	static const struct timespec ms = {.tv_nsec = 1000000};

	for (unsigned i = 0; i <= patience_ms; i++) {
		*info = (siginfo_t){0};
		if (waitid(P_PID, (id_t)h->pid, info, WEXITED | WNOHANG | WNOWAIT) < 0)
			return false;
		if (info->si_pid)
			return true;
		nanosleep(&ms, NULL);
	}
	return false;
}

void helper_last_words(const struct helper *h, unsigned patience_ms, char *text, size_t size)
{
	char words[WORDS_MAX], how[64] = "it ended";
	siginfo_t info;

	text[0] = '\0';
	if (!await_end(h, patience_ms, &info))
		return;
	if (info.si_code == CLD_EXITED && info.si_status)
		snprintf(how, sizeof(how), "it ended with status %d", info.si_status);
	else if (info.si_code != CLD_EXITED)
		snprintf(how, sizeof(how), "it was killed by signal %d", info.si_status);
	if (read_output(h, words))
		snprintf(text, size, "%s: %s", how, words);
	else
		snprintf(text, size, "%s", how);
	clean_line(text, size);
}
