// SPDX-License-Identifier: GPL-2.0-or-later
/* Confinement: a child tries each filter, with system calls that the filter must allow and with calls that it must refuse. */
#include <elfutils/debuginfod.h>
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/sandbox/sandbox.h"
#include "hv/vmm/vsock/host.h"
#include "tests/unit/sandbox/sandbox_child.h"

static struct sandbox_config config = {.used = ALL_KINDS};

/*
 * fchmod() gets an invalid descriptor. Descriptor 0 can be /dev/null, and a broken filter would let the call take all rights
 * from it.
 */
static int make_call(void *arg)
{
	long call = *(const long *)arg;

	syscall(call, call == SYS_fchmod ? -1L : 0L, 0, 0, 0, 0, 0);
	return 0;
}

/* No thread may run programs, start processes, look into other processes, load code into a kernel, or gain rights. */
static void nobody_may(void **state)
{
	static const struct {
		long call;
		const char *name;
	} calls[] = {
		{SYS_execve, "execve"},
		{SYS_execveat, "execveat"},
		{SYS_fork, "fork"},
		{SYS_vfork, "vfork"},
		{SYS_clone, "clone"},
		{SYS_ptrace, "ptrace"},
		{SYS_kill, "kill"},
		{SYS_setuid, "setuid"},
		{SYS_process_vm_readv, "process_vm_readv"},
		{SYS_mount, "mount"},
		{SYS_bpf, "bpf"},
		{SYS_unshare, "unshare"},
		{SYS_io_uring_setup, "io_uring_setup"},
		{SYS_userfaultfd, "userfaultfd"},
		{SYS_keyctl, "keyctl"},
		{SYS_perf_event_open, "perf_event_open"},
		{SYS_mkdir, "mkdir"},
		{SYS_symlink, "symlink"},
		{SYS_chmod, "chmod"},
		{SYS_fchmod, "fchmod"},
	};

	(void)state;
	if (!can_confine())
		skip();
	for (unsigned kind = 0; kind <= NETWORK_PROCESS; kind++) {
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
			assert_stopped((enum sandbox_kind)kind, make_call, (void *)&calls[i].call, calls[i].name);
	}
}

/* Some threads may make these calls, and the other threads may not. */
static void only_some_may(void **state)
{
	static const struct {
		long call;
		const char *name;
		unsigned may;
	} calls[] = {
		{SYS_openat, "openat",
		 1u << NETWORK_PROCESS | 1u << SANDBOX_SAMPLER | 1u << SANDBOX_REPORTER | 1u << SANDBOX_MAIN},
		{SYS_openat2, "openat2", 1u << SANDBOX_REPORTER | 1u << SANDBOX_MAIN},
		{SYS_renameat2, "renameat2", 1u << SANDBOX_REPORTER | 1u << SANDBOX_MAIN},
		{SYS_unlink, "unlink", 1u << SANDBOX_REPORTER | 1u << SANDBOX_MAIN},
		{SYS_connect, "connect", 1u << NETWORK_PROCESS},
		{SYS_accept4, "accept4",
		 1u << NETWORK_PROCESS | 1u << SANDBOX_VSOCK | 1u << SANDBOX_DEBUGGER | 1u << SANDBOX_MAIN},
		{SYS_seccomp, "seccomp", 1u << SANDBOX_COPY | 1u << SANDBOX_MAIN},
		{SYS_fallocate, "fallocate", 1u << SANDBOX_BLK | 1u << SANDBOX_COPY | 1u << SANDBOX_MAIN},
		{SYS_timer_create, "timer_create", 1u << SANDBOX_VCPU | 1u << SANDBOX_COPY | 1u << SANDBOX_MAIN},
	};
	char said[1024];

	(void)state;
	if (!can_confine())
		skip();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		long call = calls[i].call;

		for (unsigned kind = 0; kind <= NETWORK_PROCESS; kind++) {
			if (calls[i].may & 1u << kind)
				assert_int_equal(
					in_child(&config, (enum sandbox_kind)kind, make_call, &call, said, sizeof(said)), 0);
			else
				assert_stopped((enum sandbox_kind)kind, make_call, &call, calls[i].name);
		}
	}
}

/* ---- arguments ---- */

static int open_to_write(void *arg)
{
	return open(arg, O_WRONLY | O_CLOEXEC) < 0;
}

static int map_code(void *arg)
{
	(void)arg;
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

static int open_unix_socket(void *arg)
{
	(void)arg;
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) < 0;
}

static int open_raw_socket(void *arg)
{
	(void)arg;
	return socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0) < 0;
}

static int signal_init(void *arg)
{
	(void)arg;
	return syscall(SYS_tgkill, 1, 1, 0) < 0;
}

static void arguments_count(void **state)
{
	static const struct {
		deed *act;
		enum sandbox_kind kind;
		const char *name;
	} cases[] = {
		{open_to_write, SANDBOX_SAMPLER, "openat"},
		{open_to_write, SANDBOX_NET, "openat"},
		{map_code, SANDBOX_VCPU, "mmap"},
		{map_code, SANDBOX_MAIN, "mmap"},
		{open_unix_socket, SANDBOX_VSOCK, "socket"},
		{open_unix_socket, SANDBOX_MAIN, "socket"},
		{open_unix_socket, SANDBOX_NET, "socket"},
		{open_raw_socket, SANDBOX_NET, "socket"},
		{open_raw_socket, SANDBOX_MAIN, "socket"},
		{signal_init, SANDBOX_MAIN, "tgkill"},
	};

	(void)state;
	if (!can_confine())
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_stopped(cases[i].kind, cases[i].act, (void *)"/dev/null", cases[i].name);
}

/* ---- what must work ---- */

static int use_terminal(void *arg)
{
	static const unsigned long requests[] = {TCGETS, TCSETS, TCSETSW, TCSETSF, TCGETS2, TCSETS2, TCSETSW2, TCSETSF2};

	(void)arg;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (ioctl(-1, requests[i], NULL) == 0 || errno != EBADF)
			return 1;
	}
	return 0;
}

/* Any thread that ends the process restores the terminal's mode, by the requests of old and of new C libraries. */
static void terminals_have_modes(void **state)
{
	char said[1024];

	(void)state;
	if (!can_confine())
		skip();
	for (unsigned kind = 0; kind <= NETWORK_PROCESS; kind++)
		assert_int_equal(in_child(&config, (enum sandbox_kind)kind, use_terminal, NULL, said, sizeof(said)), 0);
}

static int ask_terminal(void *arg)
{
	static const unsigned long requests[] = {TIOCGWINSZ, TIOCGPGRP};

	(void)arg;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (ioctl(-1, requests[i], NULL) == 0 || errno != EBADF)
			return 1;
	}
	return 0;
}

/* The stopper draws the status line, as wide as the terminal is, while the run is the terminal's foreground job. */
static void stopper_draws_status(void **state)
{
	char said[1024];

	(void)state;
	if (!can_confine())
		skip();
	assert_int_equal(in_child(&config, SANDBOX_STOPPER, ask_terminal, NULL, said, sizeof(said)), 0);
}

static int name_interface(void *arg)
{
	return if_nametoindex("lo") != *(unsigned *)arg;
}

/* In the middle of a run, libslirp looks up the interface of a name server whose address has one, such as fe80::1%eth0. */
static void interfaces_have_numbers(void **state)
{
	unsigned lo = if_nametoindex("lo");
	char said[1024];
	int status;

	(void)state;
	if (!can_confine() || !lo)
		skip();
	status = in_child(&config, NETWORK_PROCESS, name_interface, &lo, said, sizeof(said));
	if (status)
		print_error("said: %s\n", said);
	assert_int_equal(status, 0);
}

static int read_home(void *path)
{
	int fd = open(path, O_RDONLY);

	return fd < 0 && errno == EACCES ? 0 : 1;
}

/* The network process cannot send the user's files away. */
static void network_process_reads_no_files(void **state)
{
	char path[] = "/tmp/outrider-secret-XXXXXX", said[1024];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	if (can_confine() && sandbox_bounds_files(said, sizeof(said)))
		assert_int_equal(in_child(&config, NETWORK_PROCESS, read_home, path, said, sizeof(said)), 0);
	unlink(path);
}

/* When the C library returns memory, it reads once how the host's kernel overcommits memory. */
static void return_memory(void)
{
	static const size_t size = 1 << 16;
	void *piece[64];

	for (size_t i = 0; i < 64; i++)
		piece[i] = malloc(size);
	for (size_t i = 64; i-- > 0;)
		free(piece[i]);
}

static void *thread_body(void *arg)
{
	sandbox_thread(*(enum sandbox_kind *)arg);
	free(malloc(1 << 22));
	return_memory();
	fprintf(stderr, "%s", "");
	return arg;
}

/* A confined main thread starts a thread of every confined kind, and the threads end. */
static int start_threads(void *arg)
{
	(void)arg;
	for (unsigned kind = 0; kind < SANDBOX_MAIN; kind++) {
		enum sandbox_kind of = (enum sandbox_kind)kind;
		pthread_t thread;
		void *result = NULL;

		if (pthread_create(&thread, NULL, thread_body, &of) || pthread_join(thread, &result) || result != &of)
			return 1;
	}
	return 0;
}

/* The process of a copy starts threads, and a timer sends a signal to one of them. */
static volatile sig_atomic_t kicked;

static void on_kick(int number)
{
	kicked = number;
}

static int live_as_copy(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1};
	const struct itimerspec soon = {.it_value.tv_nsec = 1};
	static const enum sandbox_kind machine[] = {SANDBOX_VCPU, SANDBOX_INPUT, SANDBOX_RNG};
	struct epoll_event nothing;
	timer_t timer;

	for (size_t i = 0; i < sizeof(machine) / sizeof(machine[0]); i++) {
		enum sandbox_kind kind = machine[i];
		void *result = NULL;
		pthread_t thread;

		if (pthread_create(&thread, NULL, thread_body, &kind) || pthread_join(thread, &result) || result != &kind)
			return 1;
	}
	/* The workers of PCI devices wait with this call. After a fork, this thread may make at least the calls of a worker. */
	if (epoll_wait(-1, &nothing, 1, 0) == 0 || errno != EBADF)
		return 4;
	signal(SIGRTMIN + 1, on_kick);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &soon, NULL))
		return 2;
	while (!kicked)
		usleep(1000);
	return 0;
}

static void *copy_body(void *arg)
{
	int status = -1;
	pid_t child;

	sandbox_thread(SANDBOX_COPY);
	child = fork();
	if (child == 0)
		_exit(live_as_copy());
	if (child > 0 && waitpid(child, &status, 0) == child)
		*(int *)arg = status;
	return arg;
}

static int copy_machine(void *arg)
{
	pthread_t thread;
	int status = -1;

	(void)arg;
	if (pthread_create(&thread, NULL, copy_body, &status) || pthread_join(thread, NULL))
		return 1;
	return status;
}

static void copies_are_forked(void **state)
{
	char said[1024];
	int status;

	(void)state;
	if (!can_confine())
		skip();
	status = in_child(&config, SANDBOX_MAIN, copy_machine, NULL, said, sizeof(said));
	if (status)
		print_error("said: %s\n", said);
	assert_int_equal(status, 0);
	/* A run that has no thread of kind SANDBOX_COPY may not fork. */
	config.used = ALL_KINDS & ~(1u << SANDBOX_COPY);
	status = in_child(&config, SANDBOX_MAIN, copy_machine, NULL, said, sizeof(said));
	config.used = ALL_KINDS;
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INTERNAL);
	assert_non_null(strstr(said, "must not make the system call clone"));
}

/* The sandbox ends a thread that blocks every signal, as the machine's threads do, with the same message. */
static void *blocked_body(void *arg)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	sandbox_thread(SANDBOX_VCPU);
	syscall(SYS_socket, 0, 0, 0);
	return arg;
}

static int break_in_a_thread(void *arg)
{
	pthread_t thread;

	(void)arg;
	if (pthread_create(&thread, NULL, blocked_body, NULL) == 0)
		pthread_join(thread, NULL);
	return 0;
}

static void threads_are_confined(void **state)
{
	char said[1024];
	int status;

	(void)state;
	if (!can_confine())
		skip();
	status = in_child(&config, SANDBOX_MAIN, start_threads, NULL, said, sizeof(said));
	if (status)
		print_error("said: %s\n", said);
	assert_int_equal(status, 0);
	status = in_child(&config, SANDBOX_MAIN, break_in_a_thread, NULL, said, sizeof(said));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INTERNAL);
	assert_non_null(strstr(said, "the thread vcpu, which must not make the system call socket:"));
}

/* Whether /proc/self/status has this line. */
static int status_has(const char *line)
{
	char text[4096] = "";
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && strstr(text, line);
}

static int privileges_are_gone(void *arg)
{
	(void)arg;
	if (sandbox_drop(NULL) < 0)
		return 1;
	if (!status_has("\nNoNewPrivs:\t1\n"))
		return 2;
	/* CAP_DAC_OVERRIDE is bit 1. Only root keeps it. */
	if (!status_has("\nCapEff:\t0000000000000000\n") && !status_has("\nCapEff:\t0000000000000002\n"))
		return 3;
	return fcntl(77, F_GETFD) < 0 ? 0 : 4;
}

/* in_child() would confine the child, but privileges are dropped before that, so this test forks by itself. */
static void privileges_are_dropped(void **state)
{
	int status;
	pid_t child;

	(void)state;
	if (!can_confine())
		skip();
	child = fork();
	if (child == 0) {
		unsetenv("SUDO_UID");
		dup2(STDERR_FILENO, 77);
		_exit(sandbox_prepare(NULL, NULL, NULL) < 0 ? 100 : privileges_are_gone(NULL));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* A process that a user started as root by sudo becomes that user again. */
static void caller_of_sudo_is_back(void **state)
{
	int status;
	pid_t child;

	(void)state;
	if (!can_confine() || geteuid() != 0)
		skip();
	child = fork();
	if (child == 0) {
		setenv("SUDO_UID", "12345", 1);
		setenv("SUDO_GID", "23456", 1);
		if (sandbox_prepare(NULL, NULL, NULL) < 0 || sandbox_drop(NULL) < 0)
			_exit(100);
		if (!status_has("\nUid:\t12345\t12345\t12345\t12345\n") || !status_has("\nGid:\t23456\t23456\t23456\t23456\n"))
			_exit(1);
		_exit(status_has("\nGroups:\t23456 \n") && status_has("\nCapEff:\t0000000000000000\n") ? 0 : 2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static int belongs_to(const char *path, unsigned uid, unsigned gid, unsigned mode)
{
	struct stat st;

	return lstat(path, &st) == 0 && st.st_uid == uid && st.st_gid == gid && (st.st_mode & 0777) == mode;
}

/*
 * The sockets of a guest belong to the user that the process will become. Otherwise that user could neither reach the sockets
 * of programs beside them nor remove them. The calling thread stays root until then. Runs in a child whose working folder only
 * root may write.
 */
static int make_sockets_for_caller(const char *runtime)
{
	char path[VSOCK_PATH_MAX];
	int fd;

	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "23456", 1);
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	if (sandbox_prepare(NULL, NULL, NULL) < 0 || vsock_default_path(3, path, NULL) < 0)
		return 100;
	if (strncmp(path, runtime, strlen(runtime)) != 0)
		return 1;
	fd = vsock_listen(path, "", NULL);
	if (fd < 0 || !belongs_to(path, 12345, 23456, 0600) || geteuid() != 0)
		return 2;
	/* Root could make this socket, and the user cannot. */
	if (vsock_listen("socket", "", NULL) >= 0)
		return 3;
	*strrchr(path, '/') = '\0';
	if (!belongs_to(path, 12345, 23456, 0700) || sandbox_drop(NULL) < 0 || vsock_default_path(3, path, NULL) < 0)
		return 4;
	return unlink(path);
}

static void sockets_are_the_callers(void **state)
{
	char runtime[] = "/tmp/outrider-sandbox-XXXXXX", folder[64];
	int status;
	pid_t child;

	(void)state;
	if (!can_confine() || geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(runtime));
	assert_return_code(chown(runtime, 12345, 23456), 0);
	child = fork();
	if (child == 0)
		_exit(chdir("/") < 0 ? 99 : make_sockets_for_caller(runtime));
	assert_int_equal(waitpid(child, &status, 0), child);
	snprintf(folder, sizeof(folder), "%s/outrider", runtime);
	rmdir(folder);
	rmdir(runtime);
	assert_int_equal(status, 0);
}

/* ---- debug files from a server ---- */

/* A server that has no file. It starts before the process is confined. */
static void *serve(void *arg)
{
	static const char answer[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	char request[4096];
	int fd;

	while ((fd = accept(*(int *)arg, NULL, NULL)) >= 0) {
		if (read(fd, request, sizeof(request)) > 0)
			(void)!write(fd, answer, sizeof(answer) - 1);
		close(fd);
	}
	return NULL;
}

static void *fetch(void *arg)
{
	const unsigned char id[20] = {1, 2, 3};
	debuginfod_client *client;

	sandbox_thread(SANDBOX_REPORTER);
	client = debuginfod_begin();
	*(int *)arg = client ? debuginfod_find_debuginfo(client, id, sizeof(id), NULL) : 0;
	debuginfod_end(client);
	return NULL;
}

/* Runs in a child. Returns 0 when the library sent its query to the server and received the answer. */
static int fetch_confined(const char *folder)
{
	const struct sandbox_config fetching = {.used = ALL_KINDS, .fetch = true};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), answer = 0;
	char url[64];
	pthread_t thread;

	if (bind(server, (struct sockaddr *)&address, len) || listen(server, 4) ||
	    getsockname(server, (struct sockaddr *)&address, &len) || pthread_create(&thread, NULL, serve, &server))
		return 100;
	snprintf(url, sizeof(url), "http://localhost:%u", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", folder, 1);
	unsetenv("http_proxy");
	if (sandbox_prepare(NULL, NULL, NULL) < 0 || sandbox_enter(&fetching, NULL) < 0)
		return 101;
	if (pthread_create(&thread, NULL, fetch, &answer) || pthread_join(thread, NULL))
		return 102;
	return answer == -ENOENT ? 0 : 1;
}

static void debug_files_are_fetched(void **state)
{
	char folder[] = "/tmp/outrider-sandbox-XXXXXX", command[64];
	int status;
	pid_t child;

	(void)state;
	if (!can_confine())
		skip();
	assert_non_null(mkdtemp(folder));
	child = fork();
	if (child == 0)
		_exit(fetch_confined(folder));
	assert_int_equal(waitpid(child, &status, 0), child);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_may),
		cmocka_unit_test(only_some_may),
		cmocka_unit_test(arguments_count),
		cmocka_unit_test(terminals_have_modes),
		cmocka_unit_test(stopper_draws_status),
		cmocka_unit_test(interfaces_have_numbers),
		cmocka_unit_test(network_process_reads_no_files),
		cmocka_unit_test(threads_are_confined),
		cmocka_unit_test(copies_are_forked),
		cmocka_unit_test(privileges_are_dropped),
		cmocka_unit_test(caller_of_sudo_is_back),
		cmocka_unit_test(sockets_are_the_callers),
		cmocka_unit_test(debug_files_are_fetched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
