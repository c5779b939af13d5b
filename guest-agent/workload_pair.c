// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Brings two programs to a mark, for `outrider explore`: each program is started on a CPU of its own, and waits at the mark for
 * the host. Through the registers of the mark device (hv/vmm/platform/mark.h), which are mapped from /dev/mem, the host gives
 * the commands, lets each side go, and learns the side's exit status.
 *
 * A side is two processes on one CPU, the shell and the releaser. The shell starts before the mark, and then sleeps in a read
 * of a pipe. The releaser spins at the mark in user mode, and writes to the pipe when the host lets the side go. So the start
 * of the shell is no part of what is explored, and a CPU at the mark holds no lock of the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent.h"

#define MARK_GPA 0xf0000000
#define MARK_PAGE 4096
/* Numbers of the mark's registers. Registers 0 and 1 belong to the two sides. */
#define MARK_CONTROL 2
#define MARK_TEXT 3
#define MARK_MAGIC 0x4f
/* If a side reads this number from its register, the side runs the baseline program in place of its command. */
#define MARK_BASELINE 2
#define PREPARE_FAILED 1
#define START_FAILED 2
#define ONE_CPU 3

#define COMMAND_MAX 4096
/* The shell reads the releaser's line from this descriptor, and closes the descriptor before the command begins. */
#define GO_FD 3
/*
 * The shell's first commands. If the releaser's line is not empty, the shell runs the baseline program instead of the command.
 * The baseline program starts one process, waits for it, writes to a file, and exits, as nearly every program does. It starts
 * no second process and executes no other program: either would take 100,000 more instructions of the kernel, and outrider
 * single-steps each of them.
 */
#define GO_COMMAND                               \
	"read -r outrider_mark <&3\nexec 3<&-\n" \
	"if [ \"$outrider_mark\" ]; then (echo >/dev/null); exit 0; fi\n"
/*
 * The shell counts as asleep once this number of checks in a row have found it asleep. The checks are LOOK_US microseconds
 * apart. After LOOKS_MAX checks (30 s) the side fails.
 */
#define LOOKS 5
#define LOOK_US 20000
#define LOOKS_MAX 1500
/*
 * Seconds that the agent waits, after both sides have ended, before it tells the host that they have ended. In this time the
 * kernel runs work that it has deferred, and that work may make the kernel complain.
 */
#define SETTLE 0.05

/* Shared by the processes of both sides. */
struct pair {
	atomic_uint ready, failed;
};

/* The registers of the mark: an array with one byte for each register. */
typedef volatile unsigned char mark_registers;

static void read_command(mark_registers *mark, char text[COMMAND_MAX])
{
	size_t len = 0;
	char c;

	while ((c = (char)mark[MARK_TEXT]) != '\0')
		if (len + 1 < COMMAND_MAX)
			text[len++] = c;
	text[len] = '\0';
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		say_failed("pair: CPU %d", cpu);
}

/* Returns whether the process sleeps, by the state in /proc/PID/stat, which follows the name in parentheses. */
static bool sleeps(int pid)
{
	char path[32], text[512], *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_text(path, text, sizeof(text)) < 0)
		return false;
	end = strrchr(text, ')');
	return end && !strncmp(end, ") S", 3);
}

static bool comes_to_rest(int pid)
{
	unsigned in_a_row = 0;

	for (unsigned i = 0; i < LOOKS_MAX && in_a_row < LOOKS; i++) {
		usleep(LOOK_US);
		in_a_row = sleeps(pid) ? in_a_row + 1 : 0;
	}
	return in_a_row == LOOKS;
}

/* Body of the shell's process: read a line from the pipe, and carry out the command. Does not return. */
static void be_shell(const int pipe[2], const char *command)
{
	char text[COMMAND_MAX + sizeof(GO_COMMAND)];

	close(pipe[1]);
	if (pipe[0] != GO_FD) {
		dup2(pipe[0], GO_FD);
		close(pipe[0]);
	}
	snprintf(text, sizeof(text), GO_COMMAND "%s", command);
	exit(run_shell(text));
}

/* Body of the process that runs one side. Does not return. */
static void be_side(struct pair *pair, mark_registers *mark, unsigned side, const char *command)
{
	int pipes[2], pid = -1;
	unsigned char answer;
	const char *line;

	stay_on((int)side);
	if (pipe(pipes) == 0)
		pid = fork();
	if (pid == 0)
		be_shell(pipes, command);
	if (pid < 0 || !comes_to_rest(pid)) {
		say("pair: the shell of side %u did not start, or does not sleep", side);
		atomic_fetch_add(&pair->failed, 1);
		_exit(AGENT_FAIL);
	}
	close(pipes[0]);
	atomic_fetch_add(&pair->ready, 1);
	while (atomic_load(&pair->ready) < 2 && !atomic_load(&pair->failed))
		usleep(LOOK_US);
	do
		answer = mark[side];
	while (!answer);
	/* Keep the line short: the shell reads each byte of it by a system call of its own. */
	line = answer == MARK_BASELINE ? "b\n" : "\n";
	if (write(pipes[1], line, strlen(line)) != (ssize_t)strlen(line))
		_exit(AGENT_FAIL);
	mark[side] = (unsigned char)wait_status(pid);
	_exit(AGENT_OK);
}

static int fail(mark_registers *mark, unsigned char failure, const char *why)
{
	say("pair: %s", why);
	mark[MARK_CONTROL] = failure;
	return AGENT_FAIL;
}

static int prepare(const char *command)
{
	int pid;

	if (!*command)
		return AGENT_OK;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		exit(run_shell(command));
	return pid < 0 ? AGENT_FAIL : wait_status(pid);
}

static int run_sides(struct pair *pair, mark_registers *mark, char command[2][COMMAND_MAX])
{
	int pid[2], rc = AGENT_OK;

	for (unsigned side = 0; side < 2; side++) {
		pid[side] = fork();
		if (pid[side] == 0)
			be_side(pair, mark, side, command[side]);
		if (pid[side] < 0)
			atomic_fetch_add(&pair->failed, 1);
	}
	for (unsigned side = 0; side < 2; side++) {
		if (pid[side] > 0 && wait_status(pid[side]))
			rc = AGENT_FAIL;
		if (atomic_load(&pair->failed)) {
			for (unsigned i = 0; i < 2; i++)
				if (pid[i] > 0)
					kill(pid[i], SIGKILL);
			return fail(mark, START_FAILED, "a program could not be started");
		}
	}
	sleep_seconds(SETTLE);
	mark[MARK_CONTROL] = 0;
	return rc;
}

/* Map the registers. Returns NULL, with a line written, if this machine has no mark. */
static mark_registers *open_mark(void)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	mark_registers *mark;

	if (fd < 0) {
		say_failed("pair: /dev/mem");
		return NULL;
	}
	mark = mmap(NULL, MARK_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, MARK_GPA);
	close(fd);
	if (mark == MAP_FAILED) {
		say_failed("pair: map the mark");
		return NULL;
	}
	if (mark[MARK_CONTROL] == MARK_MAGIC)
		return mark;
	say("pair: this machine has no mark: only outrider explore gives it one");
	return NULL;
}

static int run_pair(const char *args)
{
	struct pair *pair = mmap(NULL, sizeof(*pair), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static char first[COMMAND_MAX], command[2][COMMAND_MAX];
	mark_registers *mark;
	int fd;

	(void)args;
	if (pair == MAP_FAILED)
		return say_failed("pair: mmap");
	mark = open_mark();
	if (!mark)
		return AGENT_FAIL;
	read_command(mark, first);
	for (unsigned side = 0; side < 2; side++)
		read_command(mark, command[side]);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return fail(mark, ONE_CPU, "the guest has only one CPU");
	/* Let the console show all that the kernel says, also if the kernel was booted with "quiet". */
	fd = open("/proc/sys/kernel/printk", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "8\n", 2) < 0)
		say_failed("pair: the console's log level");
	if (fd >= 0)
		close(fd);
	if (prepare(first))
		return fail(mark, PREPARE_FAILED, "the preparation failed");
	return run_sides(pair, mark, command);
}

const struct workload workload_pair = {"pair", "pair: two programs, which wait until outrider explore lets each of them go",
				       run_pair};
