// SPDX-License-Identifier: GPL-2.0-or-later
/* Redirects a command's standard output to --output FILE or to a pager. */
#include "hv/cli/redirect.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Ctrl-C ---- */

/*
 * The name of the file to remove if a signal ends the process, or "". Static, because a signal handler cannot get it as an
 * argument.
 */
static const char *volatile to_drop = "";

static void drop_and_end(int number)
{
	unlink(to_drop);
	raise(number);
}

/* If a signal ends the process from now on, remove the file `name` first. "": remove no file. */
static void drop_at_signal(const char *name)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	/*
	 * SA_RESETHAND removes the handler after the first call, so that the signal that the handler raises ends the process.
	 */
	const struct sigaction drop = {.sa_handler = drop_and_end, .sa_flags = SA_RESETHAND | SA_NODEFER};
	struct sigaction now;

	to_drop = name;
	for (size_t i = 0; name[0] && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaction(numbers[i], &drop, NULL);
	}
}

/* ---- the file ---- */

/*
 * Redirect standard output to `fd`, which is then closed, and keep the previous standard output. Returns 0, or -1 with errno.
 */
static int lead_to(struct redirect *o, int fd)
{
	int saved;

	fflush(stdout);
	saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (saved < 0 || dup2(fd, STDOUT_FILENO) < 0) {
		close(fd);
		return -1;
	}
	close(fd);
	o->saved = saved + 1;
	return 0;
}

/* Create a new file next to o->place, with a new file's default access rights. Returns its descriptor, or -1 with errno. */
static int open_next(struct redirect *o)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	if (snprintf(o->next, sizeof(o->next), "%s.XXXXXX", o->place) >= (int)sizeof(o->next)) {
		o->next[0] = '\0';
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(o->next, O_CLOEXEC);
	if (fd < 0) {
		o->next[0] = '\0';
		return -1;
	}
	drop_at_signal(o->next);
	fchmod(fd, 0666 & ~mask);
	return fd;
}

/* Open the file of --output, or a temporary file that will replace it. Returns the descriptor, or -1 with errno. */
static int open_output(struct redirect *o)
{
	struct stat st;

	if (stat(o->file, &st) < 0) {
		snprintf(o->place, sizeof(o->place), "%.*s", PATH_MAX - 1, o->file);
		return open_next(o);
	}
	/*
	 * Write directly to anything but a regular file. Also write directly to a file that was deleted but is still open, such
	 * as /proc/PID/fd/3: without a path, it cannot be replaced.
	 */
	if (!S_ISREG(st.st_mode) || !realpath(o->file, o->place))
		return open(o->file, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	/* Do not replace a file that the user may not write. */
	return access(o->place, W_OK) < 0 ? -1 : open_next(o);
}

static void drop_next(struct redirect *o)
{
	drop_at_signal("");
	if (o->next[0])
		unlink(o->next);
	o->next[0] = '\0';
}

int redirect_begin(struct redirect *o, struct err *err)
{
	int fd;

	if (!o->file)
		return 0;
	if (!o->file[0])
		return err_set(err, EXIT_USAGE, "--output is empty: give a file");
	fd = open_output(o);
	if (fd >= 0 && lead_to(o, fd) == 0)
		return 0;
	err_set(err, EXIT_INPUT, "--output %.300s: %s", o->file, strerror(errno));
	drop_next(o);
	return -1;
}

/* ---- the pager ---- */

/* Returns whether a folder of $PATH has a program with this name of `len` characters. */
static bool is_in_path(const char *name, size_t len)
{
	const char *path = getenv("PATH");
	char program[PATH_MAX];

	for (const char *folder = path ? path : ""; *folder;) {
		size_t n = strcspn(folder, ":");

		if (n + len + 2 <= sizeof(program)) {
			snprintf(program, sizeof(program), "%.*s/%.*s", (int)n, folder, (int)len, name);
			if (access(program, X_OK) == 0)
				return true;
		}
		folder += n;
		folder += *folder == ':';
	}
	return false;
}

/* Returns the command line of the pager that the user wants, or NULL if the user wants none or the pager cannot be found. */
static const char *wanted_pager(void)
{
	const char *ours = getenv("OUTRIDER_PAGER"), *users = getenv("PAGER"), *pager = ours ? ours : users ? users : "less";
	size_t len = strcspn(pager, " \t");

	if (!pager[0] || strcmp(pager, "cat") == 0)
		return NULL;
	/* Check only whether a plain command name exists. The shell handles anything else: quotes, variables, pipes. */
	if (strcspn(pager, "/\\'\"$|&;()<>`*?[#~=") < len || is_in_path(pager, len))
		return pager;
	if (pager == ours || pager == users)
		fprintf(stderr, "outrider: the pager '%.*s' is not in $PATH: going on without it\n", (int)len, pager);
	return NULL;
}

static void become_pager(const char *pager, int read_end)
{
	dup2(read_end, STDIN_FILENO);
	signal(SIGPIPE, SIG_DFL);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	_exit(127);
}

void redirect_page(struct redirect *o)
{
	const char *pager = o->no_pager || o->file || !isatty(STDOUT_FILENO) ? NULL : wanted_pager();
	int ends[2];

	if (!pager || pipe2(ends, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	o->pager = fork();
	if (o->pager == 0)
		become_pager(pager, ends[0]);
	close(ends[0]);
	if (o->pager < 0) {
		o->pager = 0;
		close(ends[1]);
		return;
	}
	/*
	 * Leave Ctrl-C to the pager, which continues after it. If this process ended, the shell and the pager would read the
	 * terminal at the same time.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	lead_to(o, ends[1]);
}

/* ---- the end ---- */

/* Restore standard output. This closes the pipe, so a pager sees the end of its text. */
static void give_back(struct redirect *o)
{
	dup2(o->saved - 1, STDOUT_FILENO);
	close(o->saved - 1);
	o->saved = 0;
}

static void wait_for_pager(struct redirect *o)
{
	while (o->pager && waitpid(o->pager, NULL, 0) < 0 && errno == EINTR)
		;
	o->pager = 0;
}

void redirect_end(struct redirect *o, struct err *err)
{
	bool written;

	if (!o->saved)
		return;
	written = fflush(stdout) != EOF && !ferror(stdout);
	/* Drop unwritten output, which must not go to the restored standard output. */
	__fpurge(stdout);
	clearerr(stdout);
	if (!written && o->file)
		err_set(err, EXIT_INPUT, "%s: cannot be written", o->file);
	if (o->next[0] && err->code == EXIT_OK && rename(o->next, o->place) < 0)
		err_set(err, EXIT_INPUT, "--output %.300s: %s", o->file, strerror(errno));
	if (err->code == EXIT_OK)
		o->next[0] = '\0';
	drop_next(o);
	give_back(o);
	wait_for_pager(o);
}
