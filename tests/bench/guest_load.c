/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Usage: guest_load loop|files|sleeps|pipes|changing|programs|creates|tcp|count:SECONDS
 *
 * The /init of a guest for measurements: the same work on every CPU, for ever. "loop" computes and calls nothing. "files" makes
 * a process that runs a program, and a file that is written, read and removed, again and again. "sleeps" uses such a file, and
 * sleeps for 300 us, in turn. "pipes" sends a byte there and back between two processes. "changing" does nothing, pipes and
 * files in turn, for some seconds each. "programs" and "creates" are the halves of files. "tcp" is as pipes, by two connections
 * over the loopback interface. "count" waits for a line on the console, then does loop, programs, creates, pipes and tcp in
 * turn, SECONDS each, says how often each was done, and powers the guest off.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TURN_SECONDS 5
#define SETTLE_SECONDS 1
#define FILE_BYTES 4096
#define LOOP_STEPS 100000
#define SLEEP_US 300

/* How often the work was done, of all workers; they are processes. */
static atomic_ulong *done;

static void die(const char *what)
{
	fprintf(stderr, "guest_load: %s: %m\n", what);
	exit(1);
}

static void loop(unsigned worker)
{
	volatile unsigned long n = worker;

	for (;;) {
		for (unsigned i = 0; i < LOOP_STEPS; i++)
			n = n * 6364136223846793005ul + 1;
		++*done;
	}
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
	++*done;
}

static void programs(unsigned worker)
{
	(void)worker;
	for (;;)
		run_program();
}

static void use_file(const char *path)
{
	char bytes[FILE_BYTES] = {0};
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes) || pread(fd, bytes, sizeof(bytes), 0) != sizeof(bytes) ||
	    close(fd) || unlink(path))
		die(path);
	++*done;
}

static void creates(unsigned worker)
{
	char path[32];

	snprintf(path, sizeof(path), "/file%u", worker);
	for (;;)
		use_file(path);
}

/* A file is used once in SLEEP_US, so that each CPU is idle most of the time. */
static void sleeps(unsigned worker)
{
	char path[32];

	snprintf(path, sizeof(path), "/file%u", worker);
	for (;;) {
		use_file(path);
		usleep(SLEEP_US);
	}
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
		++*done;
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

static void set_up_loopback(void)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &lo))
		die("lo");
	close(fd);
}

/* The two ends of a connection over the loopback interface. */
static void connect_ends(int end[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	end[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || end[0] < 0 || bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &len) || connect(end[0], (struct sockaddr *)&address, len))
		die("connect");
	end[1] = accept(listener, NULL, NULL);
	close(listener);
	for (unsigned i = 0; i < 2; i++) {
		if (end[i] < 0 || setsockopt(end[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
			die("accept");
	}
}

static void tcp(unsigned worker)
{
	char byte = (char)worker;
	int end[2];

	connect_ends(end);
	if (fork() == 0) {
		close(end[0]);
		pass_on(end[1], end[1]);
	}
	close(end[1]);
	if (write(end[0], &byte, 1) != 1)
		die("write");
	pass_on(end[0], end[0]);
}

static const struct load {
	const char *name;
	void (*work)(unsigned worker);
} loads[] = {{"loop", loop},	     {"files", files},	   {"sleeps", sleeps}, {"pipes", pipes},
	     {"programs", programs}, {"creates", creates}, {"tcp", tcp}};

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
		for (size_t i = 1; i < 3; i++) {
			pid_t group = start(&loads[i]);

			sleep(TURN_SECONDS);
			stop(group);
		}
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Seconds by the guest's clock: a slow guest sleeps longer than the program asked. */
static void count_one(const struct load *load, unsigned seconds)
{
	pid_t group = start(load);
	unsigned long before;
	double begin;

	sleep(SETTLE_SECONDS);
	before = *done;
	begin = now();
	sleep(seconds);
	printf("count %s %lu in %.3f s\n", load->name, *done - before, now() - begin);
	fflush(stdout);
	stop(group);
}

static void count(unsigned seconds)
{
	char line[64];

	puts("count: ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		die("no line on the console");
	for (size_t i = 0; i < LOADS; i++) {
		if (loads[i].work != files && loads[i].work != sleeps)
			count_one(&loads[i], seconds);
	}
	puts("count: done");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[argc - 1] : "";

	if (strcmp(name, "nothing") == 0)
		return 0;
	done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED)
		die("mmap");
	set_up_loopback();
	if (strncmp(name, "count:", 6) == 0)
		count((unsigned)strtoul(name + 6, NULL, 10));
	if (strcmp(name, "changing") == 0)
		change();
	for (size_t i = 0; i < LOADS; i++) {
		if (strcmp(name, loads[i].name) == 0) {
			start(&loads[i]);
			for (;;)
				pause();
		}
	}
	fprintf(stderr, "guest_load: '%s' is no load: loop, files, pipes, programs, creates, tcp, changing or count:SECONDS\n",
		name);
	return 2;
}
