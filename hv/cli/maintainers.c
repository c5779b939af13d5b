// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the maintainers of the source files of a race, by the kernel's own scripts/get_maintainer.pl. */
#include "hv/cli/maintainers.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/base/clock.h"

#define SCRIPT "scripts/get_maintainer.pl"
#define INTERPRETER "/usr/bin/perl"
#define SECONDS_MAX 20
#define SAID_MAX 65536 /* At most this many bytes of the script's output are read. */
#define LINE_MAX_BYTES 256
#define FILES_MAX 2 /* at most one file for each side */

struct script {
	size_t folder;			  /* index of the folder in the sources */
	const char *path;		  /* path of that folder */
	const char *files[FILES_MAX + 1]; /* paths below that folder */
	size_t file_count;
	char said[SAID_MAX];
	size_t len;
};

/* ---- the script's arguments ---- */

static bool find_script(const struct sources *sources, struct script *s)
{
	for (size_t i = 0; (s->path = sources_folder(sources, i)); i++) {
		if (!sources_below(sources, i, SCRIPT))
			continue;
		s->folder = i;
		return true;
	}
	return false;
}

/*
 * Returns whether the name has no character that is special to a shell. The script passes names to git by a shell, so it gets
 * only such names.
 */
static bool is_plain(const char *file)
{
	for (; *file; file++) {
		if (!isalnum((unsigned char)*file) && !strchr("_./+,-", *file))
			return false;
	}
	return true;
}

/*
 * Add the source file of a side to the script's arguments. The name is not trusted: it must be that of a file below the folder,
 * and must not look like an option.
 */
static void add_file(const struct sources *sources, struct script *s, const struct race *race, unsigned which)
{
	/*
	 * race_names_place() prefers a source line that is not in a header: other people may maintain the header of an inlined
	 * helper.
	 */
	const struct source_line *line = race_names_place(race->names, which);
	const char *file = line ? line->file : "";

	if (!file[0] || file[0] == '-' || file[0] == '/' || !is_plain(file) || !sources_below(sources, s->folder, file))
		return;
	if (s->file_count && strcmp(s->files[0], file) == 0)
		return;
	s->files[s->file_count++] = file;
}

/* ---- the script ---- */

/*
 * Run the script in the child process. Makes only async-signal-safe calls, because other threads may have held locks when the
 * process forked.
 */
static void run_script(const struct script *s, int output)
{
	static char *const environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	char *arguments[8 + FILES_MAX] = {INTERPRETER, SCRIPT, "--no-git", "--no-git-fallback", "--no-tree", "-f"};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (size_t i = 0; i < s->file_count; i++)
		arguments[6 + i] = (char *)s->files[i];
	if (null < 0 || setpgid(0, 0) < 0 || chdir(s->path) < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(output, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		_exit(127);
	signal(SIGPIPE, SIG_DFL);
	execve(INTERPRETER, arguments, environment);
	_exit(127);
}

/*
 * Read until the script closes its output, the buffer is full, or the time is up. Returns true if the script closed its output.
 */
static bool read_output(struct script *s, int fd)
{
	uint64_t end = monotonic_ns() + SECONDS_MAX * UINT64_C(1000000000), now;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n;

	while (s->len < sizeof(s->said) && (now = monotonic_ns()) < end) {
		if (poll(&p, 1, (int)((end - now) / 1000000) + 1) <= 0)
			continue;
		n = read(fd, s->said + s->len, sizeof(s->said) - s->len);
		if (n == 0)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
		s->len += n > 0 ? (size_t)n : 0;
	}
	return false;
}

static bool ask(struct script *s)
{
	int ends[2], status;
	bool closed;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	child = fork();
	if (child == 0)
		run_script(s, ends[1]);
	close(ends[1]);
	closed = child > 0 && read_output(s, ends[0]);
	close(ends[0]);
	if (child < 0)
		return false;
	/* Kill the script's whole process group if the script did not close its output. */
	if (!closed)
		kill(-child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return closed && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- the script's output ---- */

/* Returns whether the text is an address without blanks, "a@b". */
static bool is_address(const char *text, size_t len)
{
	size_t at = 0, ats = 0;

	for (; at < len && (isalnum((unsigned char)text[at]) || strchr("._%+-@=", text[at])); at++)
		ats += text[at] == '@';
	return len > 2 && at == len && ats == 1;
}

/*
 * Write a name in the form for a mail header: ASCII words unchanged, all other words encoded by RFC 2047. Returns false for an
 * invalid name.
 */
static bool put_name(char *out, size_t size, const char *name, size_t len)
{
	bool plain = true;
	int used;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c < ' ' || c == 0x7f || c == '<' || c == '>')
			return false;
		plain &= c < 0x80;
	}
	if (plain)
		return snprintf(out, size, "%.*s", (int)len, name) < (int)size;
	used = snprintf(out, size, "=?UTF-8?Q?");
	for (size_t i = 0; i < len && used < (int)size; i++)
		used += snprintf(out + used, size - (size_t)used, isalnum((unsigned char)name[i]) ? "%c" : "=%02X",
				 (unsigned char)name[i]);
	return used < (int)size && used + snprintf(out + used, size - (size_t)used, "?=") < (int)size;
}

/* Parse one line: "Name <address> (role)" or "address (role)". `line` has no newline. Returns false for any other line. */
static bool parse_line(char *line, char recipient[LINE_MAX_BYTES], bool *maintains)
{
	char *role = strrchr(line, '(') ? strstr(line, " (") : NULL, *open, name[LINE_MAX_BYTES];

	/* Search for the role after the address, since a name may contain parentheses, too. */
	open = strchr(line, '<');
	if (open && strchr(open, '>'))
		role = strstr(strchr(open, '>'), " (");
	if (!role)
		return false;
	*role = '\0';
	role += 2;
	*maintains = strncmp(role, "maintainer", 10) == 0 || strncmp(role, "supporter", 9) == 0;
	if (!open)
		return is_address(line, strlen(line)) && snprintf(recipient, LINE_MAX_BYTES, "%s", line) < LINE_MAX_BYTES;
	if (open == line || open[-1] != ' ' || role[-3] != '>' || !is_address(open + 1, (size_t)(role - 3 - (open + 1))))
		return false;
	role[-3] = '\0';
	return put_name(name, sizeof(name), line, (size_t)(open - 1 - line)) &&
	       snprintf(recipient, LINE_MAX_BYTES, "%s <%s>", name, open + 1) < LINE_MAX_BYTES;
}

/*
 * Write the header `header` ("To: " or "Cc: ") with the maintainers, or with all other recipients: each on a line of its own,
 * folded by RFC 5322.
 */
static void put_recipients(FILE *out, const struct script *s, bool maintainers, const char *header)
{
	char line[LINE_MAX_BYTES], recipient[LINE_MAX_BYTES];
	bool any = false, maintains;

	for (size_t at = 0; at < s->len;) {
		const char *end = memchr(s->said + at, '\n', s->len - at);
		size_t len = end ? (size_t)(end - s->said) - at : s->len - at;

		if (len < sizeof(line)) {
			memcpy(line, s->said + at, len);
			line[len] = '\0';
			if (strlen(line) == len && parse_line(line, recipient, &maintains) && maintains == maintainers) {
				fprintf(out, "%s%s", any ? ",\n    " : header, recipient);
				any = true;
			}
		}
		at += len + 1;
	}
	if (any)
		fputc('\n', out);
}

void maintainers_write(FILE *out, struct sources *sources, const struct race *race, void (*say)(void *ctx, const char *line),
		       void *ctx)
{
	struct script *s = calloc(1, sizeof(*s));

	if (!s)
		return;
	if (!find_script(sources, s)) {
		say(ctx, "nobody is named to send the mail to: --sources has no folder with " SCRIPT);
		goto out;
	}
	for (unsigned i = 0; i < 2; i++)
		add_file(sources, s, race, i);
	if (!s->file_count) {
		say(ctx, "nobody is named to send the mail to: the race's source files are not known, or not below --sources");
		goto out;
	}
	if (!ask(s)) {
		say(ctx, "nobody is named to send the mail to: " SCRIPT " failed (it needs perl, and has 20 seconds)");
		goto out;
	}
	put_recipients(out, s, true, "To: ");
	put_recipients(out, s, false, "Cc: ");
out:
	free(s);
}
