// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A confined run reaches only those files and Unix sockets of the user that its configuration names, through its opener. Each
 * test runs twice: with this host's Landlock, and as on a host whose kernel has no Landlock.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/sandbox/opener.h"
#include "hv/sandbox/opener_wire.h"
#include "tests/unit/sandbox/sandbox_child.h"

#define PRECIOUS "what the user wrote\n"

/* A user's folder. */
struct home {
	char folder[64];
	char report[80], next[80], precious[80], kept[80], fifo[80], link[80];
	char vsock[80], served[96], other[80];
	int served_fd, other_fd; /* sockets that listen on `served`, a vsock port's path, and on `other` */
};

static void make_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static bool has_text(const char *path, const char *text)
{
	char now[64] = "";
	FILE *file = fopen(path, "r");
	bool same = file && fgets(now, sizeof(now), file) && strcmp(now, text) == 0;

	if (file)
		fclose(file);
	return same;
}

static int listen_on(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

static void path_in(const struct home *h, const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", h->folder, name);
}

static void home_open(struct home *h)
{
	strcpy(h->folder, "/tmp/outrider-opener-XXXXXX");
	assert_non_null(mkdtemp(h->folder));
	path_in(h, "report.json", h->report, sizeof(h->report));
	path_in(h, "report.json.next", h->next, sizeof(h->next));
	path_in(h, "precious", h->precious, sizeof(h->precious));
	path_in(h, "kept", h->kept, sizeof(h->kept));
	path_in(h, "coverage", h->fifo, sizeof(h->fifo));
	path_in(h, "coverage.next", h->link, sizeof(h->link));
	path_in(h, "v", h->vsock, sizeof(h->vsock));
	path_in(h, "v_7", h->served, sizeof(h->served));
	path_in(h, "docker.sock", h->other, sizeof(h->other));
	make_file(h->precious, PRECIOUS);
	assert_int_equal(mkdir(h->kept, 0700), 0);
	assert_int_equal(mkfifo(h->fifo, 0600), 0);
	assert_int_equal(symlink(h->precious, h->link), 0);
	h->served_fd = listen_on(h->served);
	h->other_fd = listen_on(h->other);
}

static void home_close(struct home *h)
{
	char command[96];

	close(h->served_fd);
	close(h->other_fd);
	snprintf(command, sizeof(command), "rm -rf %s", h->folder);
	assert_int_equal(system(command), 0);
}

static struct home home;

/* ---- processes ---- */

/* Let the calls of Landlock fail, as on a kernel before 5.13 or a kernel that was started without Landlock. */
static void take_landlock_away(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_create_ruleset, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(90);
}

static void *thread_body(void *arg)
{
	deed *const *act = arg;

	sandbox_thread(SANDBOX_REPORTER);
	return (void *)(intptr_t)(*act)(NULL);
}

/* Confine the main thread, then a thread that writes reports. Run `act` on both. */
static int on_both(deed *act)
{
	void *result = NULL;
	pthread_t thread;
	int rc = act(NULL);

	if (rc)
		return rc;
	if (pthread_create(&thread, NULL, thread_body, &act) || pthread_join(thread, &result))
		return 91;
	return (int)(intptr_t)result;
}

static int in_run(deed *act, bool landlock)
{
	const char *const writes[] = {home.report, NULL, home.fifo};
	const struct sandbox_config config = {.used = 1u << SANDBOX_REPORTER | 1u << SANDBOX_VSOCK | 1u << SANDBOX_VCPU,
					      .writes = writes,
					      .write_count = 3,
					      .folder = home.kept,
					      .calls = home.vsock};
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		struct err err = {0};

		if (!landlock)
			take_landlock_away();
		unsetenv("SUDO_UID");
		if (sandbox_prepare(NULL, NULL, &err) < 0 || sandbox_drop(&err) < 0 || sandbox_enter(&config, &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			_exit(92);
		}
		_exit(on_both(act));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void check(deed *act)
{
	if (!can_confine())
		skip();
	for (int landlock = 0; landlock < 2; landlock++) {
		home_open(&home);
		assert_int_equal(in_run(act, landlock), 0);
		assert_true(has_text(home.precious, PRECIOUS));
		home_close(&home);
	}
}

static bool refused(int fd)
{
	return fd < 0 && errno == EACCES;
}

/* ---- files ---- */

/* Write a report as hv/report/json/file.c does. */
static int write_report(void *arg)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	int fd = open(home.next, flags, 0666), again;
	struct stat st;

	(void)arg;
	if (fd < 0 || write(fd, "{}\n", 3) != 3 || fstat(fd, &st) || (st.st_mode & 0777) != 0644)
		return 1;
	if (rename(home.next, home.report) || !has_text(home.report, "{}\n"))
		return 2;
	again = open(home.next, flags, 0666);
	if (again < 0 || open(home.next, flags, 0666) >= 0 || errno != EEXIST)
		return 3;
	if (renameat2(AT_FDCWD, home.next, AT_FDCWD, home.report, RENAME_EXCHANGE) || !has_text(home.next, "{}\n"))
		return 4;
	if (unlink(home.next) || unlinkat(AT_FDCWD, home.report, 0) || unlink(home.report) == 0 || errno != ENOENT)
		return 5;
	return close(fd) || close(again);
}

static void reports_are_written(void **state)
{
	(void)state;
	umask(022);
	check(write_report);
}

/* Write the same files by other paths, and from another working folder. */
static int write_by_other_paths(void *arg)
{
	char path[160];
	FILE *file;

	(void)arg;
	snprintf(path, sizeof(path), "%s/kept/..//./report.json", home.folder);
	file = fopen(path, "we");
	if (!file || fclose(file) || unlink(home.report))
		return 1;
	snprintf(path, sizeof(path), "%s/any name", home.kept);
	file = fopen(path, "we");
	if (!file || fclose(file) || rename(path, home.kept) == 0)
		return 2;
	return unlink(path);
}

static void paths_may_differ(void **state)
{
	(void)state;
	check(write_by_other_paths);
}

static int attack_files(void *arg)
{
	char path[160];

	(void)arg;
	if (!refused(open(home.precious, O_WRONLY | O_CLOEXEC)) || !refused(open(home.precious, O_RDWR | O_CLOEXEC)) ||
	    !refused(open(home.precious, O_RDONLY | O_TRUNC | O_CLOEXEC)))
		return 1;
	snprintf(path, sizeof(path), "%s/new", home.folder);
	if (!refused(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) ||
	    !refused(open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0600)))
		return 2;
	if (!refused(unlink(home.precious)) || !refused(rename(home.precious, home.report)) ||
	    !refused(rename(home.precious, path)) || !refused(unlink(home.other)))
		return 3;
	/* The opener opens and removes no folder, and nothing outside of the allowed folders. */
	snprintf(path, sizeof(path), "%s/kept/..", home.folder);
	if (!refused(open(path, O_RDWR | O_CLOEXEC)) || !refused(unlink(path)) ||
	    !refused(unlinkat(AT_FDCWD, home.kept, AT_REMOVEDIR)))
		return 4;
	/* The error number says what is wrong with a path. */
	snprintf(path, sizeof(path), "%s/nothing/a", home.folder);
	if (open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0 || errno != ENOENT)
		return 5;
	return open(home.precious, O_RDONLY | O_CLOEXEC) < 0;
}

static void other_files_are_not(void **state)
{
	(void)state;
	check(attack_files);
}

/* If a writable path now leads to a file that is not regular, or to another file than before, the opener does not open it. */
static int attack_by_names(void *arg)
{
	int fd;

	(void)arg;
	/* Opening a FIFO would wait for its reader for ever. */
	fd = open(home.fifo, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 || open(home.fifo, O_RDWR | O_CLOEXEC) >= 0)
		return 1;
	fd = open(home.link, O_WRONLY | O_TRUNC | O_CLOEXEC);
	return fd >= 0 || errno != ELOOP;
}

static void links_are_not_followed(void **state)
{
	(void)state;
	check(attack_by_names);
}

static int open_by_struct(int at, const char *path, uint64_t flags, uint64_t resolve)
{
	const struct open_how how = {.flags = flags | O_CLOEXEC, .mode = flags & O_CREAT ? 0600 : 0, .resolve = resolve};

	return (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
}

static int attack_by_struct(void *arg)
{
	char path[160];

	(void)arg;
	if (open_by_struct(AT_FDCWD, home.precious, O_WRONLY | O_TRUNC, 0) >= 0 ||
	    open_by_struct(AT_FDCWD, home.precious, O_RDWR, 0) >= 0 || open_by_struct(AT_FDCWD, home.precious, O_TRUNC, 0) >= 0)
		return 1;
	snprintf(path, sizeof(path), "%s/new", home.folder);
	if (open_by_struct(AT_FDCWD, path, O_WRONLY | O_CREAT, 0) >= 0 || access(path, F_OK) == 0)
		return 2;
	return open_by_struct(AT_FDCWD, home.folder, O_TMPFILE | O_RDWR, 0) >= 0;
}

static void openat2_writes_nothing(void **state)
{
	(void)state;
	check(attack_by_struct);
}

/* Read sources as symbols/files does: the kernel keeps the paths below their folder. */
static int read_below(void *arg)
{
	int folder = open(home.folder, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	char text[sizeof(PRECIOUS)] = "";

	(void)arg;
	fd = open_by_struct(folder, "precious", O_RDONLY | O_NONBLOCK | O_NOCTTY, RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH);
	if (fd < 0 || read(fd, text, sizeof(text)) < 0 || strcmp(text, PRECIOUS) != 0 || !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
		return 1;
	close(fd);
	if (open_by_struct(folder, "../../etc/passwd", O_RDONLY, RESOLVE_BENEATH) >= 0 || errno != EXDEV)
		return 2;
	if (open_by_struct(folder, "nothing", O_RDONLY, RESOLVE_BENEATH) >= 0 || errno != ENOENT)
		return 3;
	return close(folder);
}

static void sources_are_read(void **state)
{
	(void)state;
	check(read_below);
}

/* With Landlock, the kernel keeps a thread from seeing other processes. */
static pid_t tester;

static int look_into_parent(void *arg)
{
	static const char *const names[] = {"mem", "environ", "maps"};
	char path[64];

	(void)arg;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", tester, names[i]);
		if (open(path, O_RDONLY | O_CLOEXEC) >= 0)
			return (int)i + 1;
	}
	return 0;
}

static void processes_are_not_read(void **state)
{
	(void)state;
	if (!can_confine() || syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 1)
		skip();
	tester = getpid();
	home_open(&home);
	assert_int_equal(in_run(look_into_parent, true), 0);
	home_close(&home);
}

/* ---- sockets ---- */

static int call_others(void *arg)
{
	int fd = sandbox_call(home.vsock, 7);

	(void)arg;
	if (fd < 0 || !(fcntl(fd, F_GETFL) & O_NONBLOCK) || !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
		return 1;
	close(fd);
	if (sandbox_call(home.vsock, 8) >= 0 || errno != ENOENT)
		return 2;
	/* The opener takes the path from the run's configuration, whatever a thread requests. */
	fd = sandbox_call(home.other, 7);
	if (fd < 0)
		return 3;
	return close(fd);
}

static void calls_are_answered(void **state)
{
	(void)state;
	if (!can_confine())
		skip();
	for (int landlock = 0; landlock < 2; landlock++) {
		home_open(&home);
		assert_int_equal(in_run(call_others, landlock), 0);
		for (int i = 0; i < 4; i++)
			assert_true(accept(home.served_fd, NULL, NULL) >= 0);
		assert_true(accept(home.served_fd, NULL, NULL) < 0);
		assert_true(accept(home.other_fd, NULL, NULL) < 0);
		home_close(&home);
	}
}

/* Fill the backlog of a program that accepts no connection. The opener refuses a connection that would have to wait. */
static int call_busy(void *arg)
{
	int fd = 0;

	(void)arg;
	for (int i = 0; i < 64 && fd >= 0; i++)
		fd = sandbox_call(home.vsock, 7);
	return fd >= 0 || errno != EAGAIN;
}

static void calls_do_not_wait(void **state)
{
	(void)state;
	check(call_busy);
}

static int call_without_leave(void *arg)
{
	(void)arg;
	return sandbox_call(home.vsock, 7) >= 0 || errno != EACCES;
}

static void calls_need_leave(void **state)
{
	const struct sandbox_config config = {.used = 1u << SANDBOX_VSOCK};
	char said[1024];

	(void)state;
	if (!can_confine())
		skip();
	home_open(&home);
	assert_int_equal(in_child(&config, SANDBOX_MAIN, call_without_leave, NULL, said, sizeof(said)), 0);
	/* The run has given the opener no files and no sockets. */
	assert_int_equal(in_child(&config, SANDBOX_VSOCK, call_without_leave, NULL, said, sizeof(said)), 0);
	home_close(&home);
}

/* ---- the opener's process ---- */

static int ask_raw(int socket, const struct opener_request *r, size_t size)
{
	struct opener_answer answer = {0};

	if (write(socket, r, size) != (ssize_t)size || read(socket, &answer, sizeof(answer)) != sizeof(answer))
		return -EPIPE;
	return answer.serial == r->serial ? answer.result : -EPROTO;
}

/* A thread that has the opener's descriptor can send any request. */
static void opener_checks(void **state)
{
	struct opener_request r = {.serial = 1, .op = OPENER_LET_CALLS};
	struct helper helper;
	const char *files[] = {home.report};
	const struct opener_config config = {.files = files, .file_count = 1};

	(void)state;
	if (!can_confine())
		skip();
	home_open(&home);
	assert_int_equal(helper_start(&helper, opener_serve, NULL, NULL), 0);
	r.op = OPENER_CALL;
	assert_int_equal(ask_raw(helper.socket, &r, sizeof(r)), -EACCES);
	assert_int_equal(opener_tell(helper.socket, &config, NULL), 0);
	/* After the seal, the opener accepts no further permissions. */
	for (unsigned op = OPENER_LET_FILE; op <= OPENER_SEAL; op++) {
		r.op = op;
		strcpy(r.path[0], home.precious);
		assert_int_equal(ask_raw(helper.socket, &r, sizeof(r)), -EINVAL);
	}
	r = (struct opener_request){.serial = 2, .op = OPENER_OPEN, .flags = O_RDWR};
	strcpy(r.path[0], home.precious);
	assert_int_equal(ask_raw(helper.socket, &r, sizeof(r)), -EACCES);
	/* Paths without a terminating NUL. */
	for (unsigned op = OPENER_OPEN; op <= OPENER_CALL; op++) {
		r.op = op;
		memset(r.path, '/', sizeof(r.path));
		assert_true(ask_raw(helper.socket, &r, sizeof(r)) < 0);
		memset(r.path, 'a', sizeof(r.path));
		assert_true(ask_raw(helper.socket, &r, sizeof(r)) < 0);
	}
	/* The opener makes no file with a set-user-ID or set-group-ID bit. */
	r = (struct opener_request){.serial = 3, .op = OPENER_OPEN, .flags = O_WRONLY | O_CREAT, .mode = 06777};
	strcpy(r.path[0], home.report);
	assert_int_equal(ask_raw(helper.socket, &r, sizeof(r)), 0);
	assert_int_equal(open(home.report, O_RDONLY) < 0, 0);
	helper_stop(&helper, 20000);
	home_close(&home);
}

/* Return the process id of the opener, which is the only child. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%d", &child) != 1)
		child = 0;
	if (file)
		fclose(file);
	return child;
}

/* Run with a copy that has the opener's socket, too. Writes the copy's process id to `out` when the opener works. */
static int run_until_killed(bool under_sudo, int out)
{
	const struct sandbox_config config = {.used = 1u << SANDBOX_VCPU};
	struct err err = {0};
	pid_t copy;

	if (under_sudo) {
		setenv("SUDO_UID", "12345", 1);
		setenv("SUDO_GID", "23456", 1);
	}
	if (sandbox_prepare(NULL, NULL, &err) < 0)
		return 1;
	copy = fork();
	if (copy == 0) {
		close(out);
		for (;;)
			pause();
	}
	if (sandbox_enter(&config, &err) == 0 && write(out, &copy, sizeof(copy)) == sizeof(copy))
		for (;;)
			poll(NULL, 0, -1);
	return 1;
}

static void end_with_run(bool under_sudo)
{
	pid_t run, opener, copy;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	run = fork();
	if (run == 0)
		_exit(run_until_killed(under_sudo, ends[1]));
	close(ends[1]);
	assert_int_equal(read(ends[0], &copy, sizeof(copy)), sizeof(copy));
	opener = child_of(run);
	assert_true(opener > 0 && opener != copy);
	kill(run, SIGKILL);
	assert_int_equal(waitpid(run, NULL, 0), run);
	/* The opener became this process's child. waitpid() returns after the opener has ended, while the copy lives. */
	assert_int_equal(waitpid(opener, NULL, 0), opener);
	kill(copy, SIGKILL);
	assert_int_equal(waitpid(copy, NULL, 0), copy);
	/* The opener did not keep the run's open descriptors either. */
	assert_int_equal(read(ends[0], &copy, 1), 0);
	close(ends[0]);
}

/* SIGKILL ends the run, which cannot send a message to the opener. */
static void opener_ends_with_the_run(void **state)
{
	(void)state;
	if (!can_confine())
		skip();
	end_with_run(false);
}

/* Linux clears PR_SET_PDEATHSIG when a process changes its user. */
static void opener_under_sudo_ends_with_the_run(void **state)
{
	(void)state;
	if (!can_confine() || geteuid() != 0)
		skip();
	end_with_run(true);
}

static int finish_run(void *arg)
{
	pid_t opener = child_of(getpid());

	(void)arg;
	sandbox_finish();
	/* The opener is not a zombie either. */
	return !opener || child_of(getpid()) || open(home.report, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0;
}

static void nothing_is_left(void **state)
{
	const struct sandbox_config config = {.used = 1u << SANDBOX_VSOCK};
	char said[1024];

	(void)state;
	if (!can_confine())
		skip();
	assert_int_equal(in_child(&config, SANDBOX_MAIN, finish_run, NULL, said, sizeof(said)), 0);
}

static int write_after_death(void *arg)
{
	/* Wait until the test has killed the opener. */
	(void)arg;
	while (sandbox_call(home.vsock, 7) >= 0 || errno != EIO)
		usleep(1000);
	return open(home.report, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 && errno == EIO ? 0 : 1;
}

static int die_first(void *arg)
{
	(void)arg;
	return write_after_death(NULL);
}

static void death_of_the_opener_is_told(void **state)
{
	const char *const writes[] = {home.report};
	const struct sandbox_config config = {
		.used = 1u << SANDBOX_VSOCK | 1u << SANDBOX_REPORTER, .writes = writes, .write_count = 1, .calls = home.vsock};
	pid_t run, opener;
	int ends[2], status;
	char byte;

	(void)state;
	if (!can_confine())
		skip();
	home_open(&home);
	assert_int_equal(pipe(ends), 0);
	run = fork();
	if (run == 0) {
		if (sandbox_prepare(NULL, NULL, NULL) < 0 || sandbox_enter(&config, NULL) < 0 || write(ends[1], "", 1) != 1)
			_exit(92);
		_exit(on_both(die_first));
	}
	assert_int_equal(read(ends[0], &byte, 1), 1);
	opener = child_of(run);
	assert_true(opener > 0);
	kill(opener, SIGKILL);
	assert_int_equal(waitpid(run, &status, 0), run);
	assert_int_equal(status, 0);
	close(ends[0]);
	close(ends[1]);
	home_close(&home);
}

/* ---- messages ---- */

static int missing_is_said(bool landlock)
{
	char line[SANDBOX_MISSING_MAX], why[128];

	if (landlock)
		return sandbox_missing(line) || !sandbox_bounds_files(why, sizeof(why));
	return !sandbox_missing(line) || !strstr(line, "no Landlock") || sandbox_bounds_files(why, sizeof(why)) ||
	       !strstr(why, "no Landlock");
}

static void hosts_without_landlock_are_told(void **state)
{
	int status;

	(void)state;
	for (int landlock = 0; landlock < 2; landlock++) {
		pid_t child = fork();

		if (child == 0) {
			if (!landlock)
				take_landlock_away();
			_exit(missing_is_said(landlock));
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		if (landlock && syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 1)
			continue;
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_are_written),
		cmocka_unit_test(paths_may_differ),
		cmocka_unit_test(other_files_are_not),
		cmocka_unit_test(links_are_not_followed),
		cmocka_unit_test(openat2_writes_nothing),
		cmocka_unit_test(sources_are_read),
		cmocka_unit_test(processes_are_not_read),
		cmocka_unit_test(calls_are_answered),
		cmocka_unit_test(calls_do_not_wait),
		cmocka_unit_test(calls_need_leave),
		cmocka_unit_test(opener_checks),
		cmocka_unit_test(opener_ends_with_the_run),
		cmocka_unit_test(opener_under_sudo_ends_with_the_run),
		cmocka_unit_test(nothing_is_left),
		cmocka_unit_test(death_of_the_opener_is_told),
		cmocka_unit_test(hosts_without_landlock_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
