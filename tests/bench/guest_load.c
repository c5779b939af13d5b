/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Usage: guest_load loop|files|pipes|changing
 *
 * The /init of a guest for measurements: the same work on every CPU, for ever. "loop" computes and calls nothing. "files" makes
 * a process that runs a program, and a file that is written, read and removed, again and again. "pipes" sends a byte there and
 * back between two processes. "changing" does nothing, pipes and files in turn, for some seconds each.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURN_SECONDS 5
#define FILE_BYTES 4096

static void die(const char *what)
{
	fprintf(stderr, "guest_load: %s: %m\n", what);
	exit(1);
}

static void loop(unsigned worker)
{
	volatile unsigned long n = worker;

	for (;;)
		n = n * 6364136223846793005ul + 1;
}

static void run_program(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		execl("/init", "init", "nothing", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void use_file(const char *path)
{
	char bytes[FILE_BYTES] = {0};
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes) || pread(fd, bytes, sizeof(bytes), 0) != sizeof(bytes) ||
	    close(fd) || unlink(path))
		die(path);
}

static void files(unsigned worker)
{
	char path[32];

	snprintf(path, sizeof(path), "/file%u", worker);
	for (;;) {
		run_program();
		for (unsigned i = 0; i < 20; i++)
			use_file(path);
	}
}

/* Send on every byte that comes. */
static void pass_on(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	exit(0);
}

static void pipes(unsigned worker)
{
	int there[2], back[2];
	char byte = (char)worker;

	if (pipe(there) || pipe(back))
		die("pipe");
	if (fork() == 0) {
		close(there[1]);
		pass_on(there[0], back[1]);
	}
	close(there[0]);
	if (write(there[1], &byte, 1) != 1)
		die("write");
	pass_on(back[0], there[1]);
}

static const struct load {
	const char *name;
	void (*work)(unsigned worker);
} loads[] = {{"loop", loop}, {"files", files}, {"pipes", pipes}};

#define LOADS (sizeof(loads) / sizeof(loads[0]))

/* One process a CPU, in a process group of its own. Returns the group. */
static pid_t start(const struct load *load)
{
	pid_t group = fork();

	if (group)
		return group;
	setpgid(0, 0);
	for (long cpu = sysconf(_SC_NPROCESSORS_ONLN); cpu > 0; cpu--) {
		if (fork() == 0)
			load->work((unsigned)cpu);
	}
	for (;;)
		pause();
}

static void stop(pid_t group)
{
	kill(-group, SIGKILL);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void change(void)
{
	for (;;) {
		sleep(TURN_SECONDS);
		for (size_t i = 1; i < LOADS; i++) {
			pid_t group = start(&loads[i]);

			sleep(TURN_SECONDS);
			stop(group);
		}
	}
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[argc - 1] : "";

	if (strcmp(name, "nothing") == 0)
		return 0;
	if (strcmp(name, "changing") == 0)
		change();
	for (size_t i = 0; i < LOADS; i++) {
		if (strcmp(name, loads[i].name) == 0) {
			start(&loads[i]);
			for (;;)
				pause();
		}
	}
	fprintf(stderr, "guest_load: '%s' is no load: loop, files, pipes or changing\n", name);
	return 2;
}
