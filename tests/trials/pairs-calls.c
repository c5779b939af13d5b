/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs of system calls for outrider explore (tests/trials/pairs): calls NAME. Each side makes its call once, in a guest that
 * tests/real-bugs/explored-prepare has prepared.
 */
#include "../real-bugs/trigger.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define DIRECTORY "/tmp/pair"
#define FILE_A DIRECTORY "/a"
#define FILE_B DIRECTORY "/b"

/* What a pair's set-up has opened. */
static int fd[4];

static int status_of(int result)
{
	return result < 0 ? errno & 0x7f : 0;
}

static int make_file(const char *path)
{
	return need(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), "make a file");
}

/* ---- rename and unlink ---- */

static void set_up_file(void)
{
	close(make_file(FILE_A));
}

static void rename_file(void *arg)
{
	(void)arg;
	step_status = status_of(rename(FILE_A, FILE_B));
}

static void unlink_file(void *arg)
{
	(void)arg;
	step_status = status_of(unlink(FILE_A));
}

/* ---- two renames that would make a loop ---- */

static void set_up_directories(void)
{
	need(mkdir(FILE_A, 0700), "make a directory");
	need(mkdir(FILE_B, 0700), "make a directory");
}

static void move_a_into_b(void *arg)
{
	(void)arg;
	step_status = status_of(rename(FILE_A, FILE_B "/a"));
}

static void move_b_into_a(void *arg)
{
	(void)arg;
	step_status = status_of(rename(FILE_B, FILE_A "/b"));
}

/* ---- mkdir in a directory, and its rmdir ---- */

static void set_up_directory(void)
{
	need(mkdir(FILE_A, 0700), "make a directory");
}

static void make_inside(void *arg)
{
	(void)arg;
	step_status = status_of(mkdir(FILE_A "/x", 0700));
}

static void remove_directory(void *arg)
{
	(void)arg;
	step_status = status_of(rmdir(FILE_A));
}

/* ---- exclusive creation ---- */

static void create(void *arg)
{
	int file = open(FILE_A, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	(void)arg;
	step_status = status_of(file);
}

/* ---- write and truncate ---- */

static void set_up_long_file(void)
{
	char block[8192];

	memset(block, 'x', sizeof(block));
	fd[0] = make_file(FILE_A);
	need((int)write(fd[0], block, sizeof(block)), "fill a file");
	fd[1] = make_file(FILE_A);
}

static void append(void *arg)
{
	char block[5000];

	(void)arg;
	memset(block, 'y', sizeof(block));
	step_status = status_of((int)write(fd[0], block, sizeof(block)));
}

static void cut(void *arg)
{
	(void)arg;
	step_status = status_of(ftruncate(fd[1], 100));
}

/* ---- record locks and close ---- */

static void lock(void *arg)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	(void)arg;
	step_status = status_of(fcntl(fd[0], F_OFD_SETLK, &whole));
}

static void lock_again(void *arg)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	(void)arg;
	step_status = status_of(fcntl(fd[1], F_OFD_SETLK, &whole));
}

/* ---- inotify ---- */

static void set_up_inotify(void)
{
	close(make_file(FILE_A));
	fd[0] = need(inotify_init1(IN_CLOEXEC), "make an inotify instance");
	fd[1] = need(inotify_add_watch(fd[0], FILE_A, IN_ALL_EVENTS), "watch a file");
}

static void stop_watching(void *arg)
{
	(void)arg;
	step_status = status_of(inotify_rm_watch(fd[0], fd[1]));
}

/* ---- Unix sockets ---- */

static struct sockaddr_un unix_address(void)
{
	return (struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = DIRECTORY "/socket"};
}

static void set_up_listener(void)
{
	struct sockaddr_un at = unix_address();

	fd[0] = need(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket");
	need(bind(fd[0], (struct sockaddr *)&at, sizeof(at)), "bind a socket");
	need(listen(fd[0], 1), "listen");
	fd[1] = need(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket");
}

static void connect_unix(void *arg)
{
	struct sockaddr_un at = unix_address();

	(void)arg;
	step_status = status_of(connect(fd[1], (struct sockaddr *)&at, sizeof(at)));
}

static void close_listener(void *arg)
{
	(void)arg;
	step_status = status_of(close(fd[0]));
}

/* A message with a descriptor, and the end of the socket that it is sent to. */
static void set_up_pair(void)
{
	need(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fd), "make a pair of sockets");
}

static void send_descriptor(void *arg)
{
	char text = 'x', control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {0};
	struct iovec part = {&text, 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	(void)arg;
	*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
	memcpy(CMSG_DATA(c), &fd[0], sizeof(int));
	step_status = status_of((int)sendmsg(fd[0], &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

static void close_peer(void *arg)
{
	(void)arg;
	step_status = status_of(close(fd[1]));
}

/* ---- ports of UDP ---- */

static struct sockaddr_in port(void)
{
	return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(5000), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static void set_up_udp(void)
{
	for (int i = 0; i < 2; i++)
		fd[i] = need(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "make a socket");
}

static void bind_first(void *arg)
{
	struct sockaddr_in at = port();

	(void)arg;
	step_status = status_of(bind(fd[0], (struct sockaddr *)&at, sizeof(at)));
}

static void bind_second(void *arg)
{
	struct sockaddr_in at = port();

	(void)arg;
	step_status = status_of(bind(fd[1], (struct sockaddr *)&at, sizeof(at)));
}

/* ---- epoll and close ---- */

static void set_up_epoll(void)
{
	fd[0] = need(epoll_create1(EPOLL_CLOEXEC), "make an epoll instance");
	need(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, &fd[1]), "make a pair of sockets");
}

static void add_to_epoll(void *arg)
{
	struct epoll_event event = {.events = EPOLLIN};

	(void)arg;
	step_status = status_of(epoll_ctl(fd[0], EPOLL_CTL_ADD, fd[1], &event));
}

/* ---- the table ---- */

static const struct pair {
	const char *name;
	void (*set_up)(void);
	void (*side[2])(void *arg);
} pairs[] = {
	{"rename-unlink", set_up_file, {rename_file, unlink_file}},
	{"rename-rename", set_up_directories, {move_a_into_b, move_b_into_a}},
	{"mkdir-rmdir", set_up_directory, {make_inside, remove_directory}},
	{"create-create", NULL, {create, create}},
	{"write-truncate", set_up_long_file, {append, cut}},
	{"lock-lock", set_up_long_file, {lock, lock_again}},
	{"inotify-unlink", set_up_inotify, {stop_watching, unlink_file}},
	{"connect-close", set_up_listener, {connect_unix, close_listener}},
	{"rights-close", set_up_pair, {send_descriptor, close_peer}},
	{"bind-bind", set_up_udp, {bind_first, bind_second}},
	{"epoll-close", set_up_epoll, {add_to_epoll, close_peer}},
};

int main(int argc, char **argv)
{
	const char *name = getenv("PAIR");

	(void)argc;
	(void)argv;
	need(mkdir(DIRECTORY, 0700), "make " DIRECTORY);
	for (size_t i = 0; name && i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		if (strcmp(name, pairs[i].name) != 0)
			continue;
		if (pairs[i].set_up)
			pairs[i].set_up();
		repeat_both(pairs[i].side[0], pairs[i].side[1], NULL);
	}
	errno = ENOENT;
	die("find the pair in PAIR");
}
