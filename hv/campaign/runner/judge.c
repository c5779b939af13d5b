// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides how a run ended, from its exit status, the findings of its console, and its messages. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/base/clean.h"
#include "hv/base/clock.h"
#include "hv/campaign/runner/job.h"
#include "hv/campaign/runner/spool.h"
#include "hv/race/complaint.h"

#define LAST_LINE "outrider: "
/* At most this many bytes at the end of stderr.log are read: the last messages say why the run ended. */
#define ERRORS_MAX (16 << 20)
#define ERRORS_LINE_MAX 4096

/*
 * Exit statuses that come from a program that runs Outrider, and not from Outrider itself: see docs/labs.md and sh(1). An
 * <emulator> exits with WRAPPER_FAILED if the machine in which it runs Outrider has failed.
 */
enum wrapper_status { WRAPPER_FAILED = 125, WRAPPER_CANNOT = 126, WRAPPER_NOWHERE = 127, WRAPPER_SIGNAL = 128 };

/*
 * Exit status of `outrider explore` if it found something, which its result describes. Other runs do not exit with this status.
 */
#define EXIT_FOUND 1

/* ---- messages in stderr.log ---- */

/* Returns whether a line is a message of a compiler's sanitizer. */
static bool is_sanitizer(const char *line)
{
	static const char *const words[] = {"ERROR: AddressSanitizer",	   "ERROR: LeakSanitizer",
					    "WARNING: ThreadSanitizer",	   "ERROR: ThreadSanitizer",
					    ": runtime error: ",	   "WARNING: MemorySanitizer",
					    "*** stack smashing detected", "*** buffer overflow detected"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strstr(line, words[i]))
			return true;
	}
	return false;
}

/* Skip the pid at the start of a sanitizer's line, "==123==ERROR: ...", since the pid differs in each run. */
static const char *skip_pid(const char *line)
{
	size_t n = strspn(line, "=0123456789");

	return strncmp(line, "==", 2) == 0 ? line + n : line;
}

/* Open stderr.log at its last ERRORS_MAX bytes. */
static FILE *open_errors(const struct job *j)
{
	int fd = spool_open_file(j->folder, "stderr.log");
	FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;
	struct stat st;

	if (fd >= 0 && !in)
		close(fd);
	if (in && fstat(fd, &st) == 0 && st.st_size > ERRORS_MAX)
		fseeko(in, st.st_size - ERRORS_MAX, SEEK_SET);
	return in;
}

/* Read a line from `in` into `line`, of which at most `size` - 1 bytes are kept. Returns false at the end of the file. */
static bool next_line(FILE *in, char *line, int size)
{
	if (!fgets(line, size, in))
		return false;
	for (int c = '\0'; !strchr(line, '\n') && c != '\n' && c != EOF;)
		c = getc_unlocked(in);
	line[strcspn(line, "\r\n")] = '\0';
	return true;
}

/*
 * Add messages of sanitizers in stderr.log as findings. Copy Outrider's last message to `last`, or the last line if Outrider
 * printed none.
 */
static void read_errors(struct job *j, char *last, size_t size)
{
	FILE *in = open_errors(j);
	char line[ERRORS_LINE_MAX];
	bool ours = false;

	last[0] = '\0';
	while (in && next_line(in, line, sizeof(line))) {
		bool is_ours = strncmp(line, LAST_LINE, strlen(LAST_LINE)) == 0;

		if (is_sanitizer(line))
			ending_add(&j->ending, STORE_CRASH, "stderr.log", skip_pid(line));
		if (line[0] && (is_ours || !ours))
			snprintf(last, size, "%.*s", (int)size - 1, is_ours ? line + strlen(LAST_LINE) : line);
		ours |= is_ours;
	}
	if (in)
		fclose(in);
}

/* ---- exit status ---- */

static void fail(struct job *j, const char *last, const char *otherwise)
{
	ending_add(&j->ending, STORE_FAILED, "stderr.log", last[0] ? last : otherwise);
}

static void crash(struct job *j, const char *fmt, const char *what)
{
	char line[ENDING_LINE_MAX];

	snprintf(line, sizeof(line), fmt, what);
	ending_add(&j->ending, STORE_CRASH, "stderr.log", line);
}

/* Returns whether the signal `number` is one that a program causes itself by a fault, such as SIGSEGV. */
static bool is_fault(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGABRT || number == SIGILL || number == SIGFPE ||
	       number == SIGSYS || number == SIGTRAP;
}

static enum job_verdict judge_signal(struct job *j, int number)
{
	if (is_fault(number)) {
		crash(j, "outrider was killed by SIG%s", sigabbrev_np(number));
		return JOB_OVER;
	}
	if (j->sigterm_ns || j->killed)
		return JOB_OVER;
	if (number == SIGXCPU || number == SIGXFSZ) {
		ending_add(&j->ending, STORE_LIMIT, "",
			   number == SIGXCPU ? "a process of the run used more than its limit of CPU time"
					     : "a file of the run became longer than its limit");
		return JOB_OVER;
	}
	if (number == SIGKILL && child_ran_out(&j->child)) {
		ending_add(&j->ending, STORE_LIMIT, "", "the run used up its limit of memory");
		return JOB_OVER;
	}
	return JOB_INTERRUPTED;
}

/* Returns whether the console has a finding of the guest's kernel. */
static bool kernel_spoke(const struct job *j)
{
	return ending_has(&j->ending, STORE_PANIC) || ending_has(&j->ending, STORE_LOCKUP) ||
	       ending_has(&j->ending, STORE_COMPLAINT);
}

/*
 * Add a finding for the event that ended the run, unless the console has shown the same event: either the guest died, or its
 * kernel complained and Outrider therefore ended the run. `last` is Outrider's last message. The store adds the complaints of
 * the run's report later, and drops findings that name the same events (complaints_say()).
 */
static void guest_died(struct job *j, const char *last)
{
	const char *text = complaint_of_message(last);
	char line[ENDING_LINE_MAX];

	if (text && !kernel_spoke(j)) {
		snprintf(line, sizeof(line), "%.*s", (int)complaint_message_len(text), text);
		ending_add(&j->ending, STORE_COMPLAINT, "stderr.log", line);
	} else if (!text && !ending_has(&j->ending, STORE_PANIC)) {
		ending_add(&j->ending, STORE_PANIC, "console.log", last[0] ? last : "the guest died");
	}
}

static enum job_verdict judge_status(struct job *j, int status, const char *last)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", status);
	switch (status) {
	case EXIT_OK:
		return JOB_OVER;
	case EXIT_FOUND:
		if (j->run->pair)
			return JOB_OVER;
		crash(j, "outrider ended with the status %s", number);
		return JOB_OVER;
	case EXIT_GUEST:
		guest_died(j, last);
		return JOB_OVER;
	case WRAPPER_FAILED:
		fail(j, last, "the machine of the <emulator> failed");
		return j->program_given && !j->sigterm_ns && !j->killed ? JOB_LOST : JOB_OVER;
	case EXIT_USAGE:
	case EXIT_INPUT:
	case WRAPPER_CANNOT:
	case WRAPPER_NOWHERE:
		fail(j, last, "outrider could not run");
		return JOB_OVER;
	case EXIT_INTERNAL:
		crash(j, "%s", last[0] ? last : "outrider failed");
		return JOB_OVER;
	default:
		if (status > WRAPPER_SIGNAL && status < WRAPPER_SIGNAL + NSIG)
			return judge_signal(j, status - WRAPPER_SIGNAL);
		crash(j, "outrider ended with the status %s", number);
		return JOB_OVER;
	}
}

enum job_verdict job_judge(struct job *j)
{
	char last[ENDING_LINE_MAX];
	enum job_verdict verdict;

	console_read(&j->console, j->folder, true, &j->ending);
	read_errors(j, last, sizeof(last));
	j->ending.ended = realtime_ms();
	if (j->child.lost)
		verdict = judge_signal(j, SIGKILL);
	else if (WIFSIGNALED(j->child.status))
		verdict = judge_signal(j, WTERMSIG(j->child.status));
	else
		verdict = judge_status(j, WEXITSTATUS(j->child.status), last);
	/* A run that was cut short keeps its findings, but must start again. */
	return j->cut_short ? JOB_INTERRUPTED : verdict;
}
