// SPDX-License-Identifier: GPL-2.0-or-later
/* Which source files a report can make Outrider read. No name in a report leads to other files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/files/sources.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/*
 * The folder "top" has these files, each with its own path below "top" as its only line:
 *   kernel/fs/inode.c  hold/hold.c  hold/src/a.c  secret.c
 */
struct fixture {
	char top[64];
	char notes[1024];
	struct sources *sources;
};

static const char *const files[] = {"kernel/fs/inode.c", "hold/hold.c", "hold/src/a.c", "hold/\xc3\xa4.c", "secret.c"};
static const char *const folders[] = {"kernel", "kernel/fs", "hold", "hold/src"};

static void note(void *ctx, const char *line)
{
	struct fixture *f = ctx;
	size_t used = strlen(f->notes);

	snprintf(f->notes + used, sizeof(f->notes) - used, "%s\n", line);
}

static const char *path_of(const struct fixture *f, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", f->top, name);
	return path;
}

static void write_file(const struct fixture *f, const char *name, const char *text)
{
	FILE *file = fopen(path_of(f, name), "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct sources_sink sink = {note, f};
	char line[64];

	assert_non_null(f);
	*state = f;
	strcpy(f->top, "/tmp/test_sym_sources.XXXXXX");
	assert_non_null(mkdtemp(f->top));
	for (size_t i = 0; i < COUNT(folders); i++)
		assert_int_equal(mkdir(path_of(f, folders[i]), 0700), 0);
	for (size_t i = 0; i < COUNT(files); i++) {
		snprintf(line, sizeof(line), "%s\n", files[i]);
		write_file(f, files[i], line);
	}
	f->sources = sources_new(&sink, NULL);
	assert_non_null(f->sources);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	sources_free(f->sources);
	/* Remove the files of single tests. */
	unlink(path_of(f, "kernel/x.c"));
	rmdir(path_of(f, "kernel/x.c"));
	for (size_t i = 0; i < COUNT(files); i++)
		unlink(path_of(f, files[i]));
	for (size_t i = COUNT(folders); i > 0; i--)
		rmdir(path_of(f, folders[i - 1]));
	rmdir(f->top);
	free(f);
	return 0;
}

static void add(struct fixture *f, const char *folder)
{
	assert_int_equal(sources_add(f->sources, path_of(f, folder), NULL), 0);
}

/* Check that the report's file `name` is read from `file`, one of files[]. */
static void is_read(struct fixture *f, const char *name, const char *file)
{
	size_t len;
	const char *line = sources_line(f->sources, name, 1, &len);

	assert_non_null(line);
	assert_int_equal(len, strlen(file));
	assert_memory_equal(line, file, len);
	assert_string_equal(f->notes, "");
}

static void is_not_there(struct fixture *f, const char *name)
{
	size_t len = 1;

	assert_null(sources_text(f->sources, name, &len));
	assert_int_equal(len, 0);
	assert_string_equal(f->notes, "");
}

/* The record has names in printable form, which must not lead out of the folder either. */
static void test_name_made_printable(void **state)
{
	struct fixture *f = *state;

	add(f, "hold");
	is_read(f, "\\xc3\\xa4.c", "hold/\xc3\xa4.c");
	is_not_there(f, "\\x2e\\x2e/secret.c");
	is_not_there(f, "src\\x2f..\\x2f..\\x2fsecret.c");
}

static void is_refused(struct fixture *f, const char *name, const char *why)
{
	size_t len = 1;

	assert_null(sources_text(f->sources, name, &len));
	assert_int_equal(len, 0);
	assert_non_null(strstr(f->notes, name));
	assert_non_null(strstr(f->notes, why));
	assert_ptr_equal(strchr(f->notes, '\n'), f->notes + strlen(f->notes) - 1);
}

/* ---- the search for a file ---- */

static void test_relative_name(void **state)
{
	struct fixture *f = *state;

	add(f, "kernel");
	is_read(f, "fs/inode.c", "kernel/fs/inode.c");
	is_read(f, "./fs/inode.c", "kernel/fs/inode.c");
	is_not_there(f, "fs/other.c");
	is_not_there(f, "");
}

static void test_second_folder(void **state)
{
	struct fixture *f = *state;

	add(f, "kernel");
	is_not_there(f, "hold.c");
	add(f, "hold");
	is_read(f, "hold.c", "hold/hold.c");
	is_read(f, "fs/inode.c", "kernel/fs/inode.c");
	assert_string_equal(sources_folder(f->sources, 1), path_of(f, "hold"));
	assert_null(sources_folder(f->sources, 2));
}

static void test_absolute_name_below_a_folder(void **state)
{
	struct fixture *f = *state;
	char name[128];

	add(f, "kernel");
	snprintf(name, sizeof(name), "%s/hold/hold.c", f->top);
	is_not_there(f, name);
	add(f, "hold");
	is_read(f, name, "hold/hold.c");
}

/* The user names the folder by a link, and the compiler recorded the link's target. */
static void test_absolute_name_below_a_link(void **state)
{
	struct fixture *f = *state;
	char name[128], hold[128];

	snprintf(hold, sizeof(hold), "%s/hold", f->top);
	assert_int_equal(symlink(hold, path_of(f, "kernel/x.c")), 0);
	add(f, "kernel/x.c");
	snprintf(name, sizeof(name), "%s/hold/hold.c", f->top);
	is_read(f, name, "hold/hold.c");
}

/* The module was compiled on another machine, where the folder of the same name had another path. */
static void test_part_of_a_tree(void **state)
{
	struct fixture *f = *state;

	add(f, "hold");
	is_read(f, "/home/other/hold/src/a.c", "hold/src/a.c");
	is_read(f, "drivers/hold/src/a.c", "hold/src/a.c");
	is_not_there(f, "/home/other/behold/src/a.c");
	is_not_there(f, "/home/other/src/a.c");
}

static void test_folder_as_root(void **state)
{
	struct fixture *f = *state;

	add(f, "");
	is_read(f, "/hold/src/a.c", "hold/src/a.c");
}

static void test_without_a_folder(void **state)
{
	struct fixture *f = *state;
	char name[128];

	snprintf(name, sizeof(name), "%s/hold/hold.c", f->top);
	is_not_there(f, name);
	is_not_there(f, "/etc/passwd");
}

/* ---- files that a debug file names ---- */

static void test_file_that_a_debug_file_names(void **state)
{
	struct fixture *f = *state;

	is_not_there(f, "hold.c");
	sources_allow(f->sources, "hold.c", path_of(f, "hold/hold.c"));
	is_read(f, "hold.c", "hold/hold.c");
	is_not_there(f, "secret.c");
	is_not_there(f, path_of(f, "secret.c"));
}

static void test_folder_before_what_a_debug_file_names(void **state)
{
	struct fixture *f = *state;

	sources_allow(f->sources, "hold.c", path_of(f, "secret.c"));
	is_read(f, "hold.c", "secret.c");
	add(f, "hold");
	is_read(f, "hold.c", "hold/hold.c");
}

static void test_debug_file_that_names_no_source(void **state)
{
	struct fixture *f = *state;

	sources_allow(f->sources, "passwd", "/etc/passwd");
	is_not_there(f, "passwd");
	sources_allow(f->sources, ".c", "relative/a.c");
	is_not_there(f, ".c");
}

static void test_debug_file_that_names_a_fifo(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkfifo(path_of(f, "kernel/x.c"), 0600), 0);
	sources_allow(f->sources, "x.c", path_of(f, "kernel/x.c"));
	is_refused(f, "x.c", "no regular file");
}

/* ---- files that are never read ---- */

static void test_name_that_goes_up(void **state)
{
	struct fixture *f = *state;

	add(f, "kernel");
	is_not_there(f, "../secret.c");
	is_not_there(f, "fs/../../secret.c");
	/* A name that goes up is refused even if it stays below the folder. */
	is_not_there(f, "fs/../fs/inode.c");
	write_file(f, "kernel/x.c", "kernel/x.c\n");
	is_not_there(f, "..");
	is_read(f, "x.c", "kernel/x.c");
}

static void test_link_out(void **state)
{
	struct fixture *f = *state;
	char secret[128];

	add(f, "kernel");
	snprintf(secret, sizeof(secret), "%s/secret.c", f->top);
	assert_int_equal(symlink(secret, path_of(f, "kernel/x.c")), 0);
	is_refused(f, "x.c", "leads out of the folder");
}

static void test_relative_link_out(void **state)
{
	struct fixture *f = *state;

	add(f, "kernel");
	assert_int_equal(symlink("../secret.c", path_of(f, "kernel/x.c")), 0);
	is_refused(f, "x.c", "leads out of the folder");
}

static void test_link_within(void **state)
{
	struct fixture *f = *state;

	add(f, "kernel");
	assert_int_equal(symlink("fs/inode.c", path_of(f, "kernel/x.c")), 0);
	is_read(f, "x.c", "kernel/fs/inode.c");
}

/* The FIFO has no writer, so opening it like a regular file would wait for ever. */
static void test_fifo(void **state)
{
	struct fixture *f = *state;

	add(f, "kernel");
	assert_int_equal(mkfifo(path_of(f, "kernel/x.c"), 0600), 0);
	is_refused(f, "x.c", "no regular file");
}

static void test_device(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(sources_add(f->sources, "/dev", NULL), 0);
	is_refused(f, "zero", "no regular file");
}

static void test_folder(void **state)
{
	struct fixture *f = *state;

	add(f, "kernel");
	is_refused(f, "fs", "no regular file");
}

static void test_large_file(void **state)
{
	struct fixture *f = *state;

	write_file(f, "kernel/x.c", "first\n");
	assert_int_equal(truncate(path_of(f, "kernel/x.c"), (off_t)SOURCES_FILE_MAX + 1), 0);
	add(f, "kernel");
	is_refused(f, "x.c", "larger than 16 MiB");
}

static void test_largest_file(void **state)
{
	struct fixture *f = *state;
	size_t len;

	write_file(f, "kernel/x.c", "first\n");
	assert_int_equal(truncate(path_of(f, "kernel/x.c"), (off_t)SOURCES_FILE_MAX), 0);
	add(f, "kernel");
	assert_non_null(sources_text(f->sources, "x.c", &len));
	assert_int_equal(len, SOURCES_FILE_MAX);
}

/* A report that names many such files causes only a few messages. */
static void test_notes_are_few(void **state)
{
	struct fixture *f = *state;
	char name[64];
	unsigned lines = 0;
	size_t len;

	add(f, "kernel");
	assert_int_equal(mkdir(path_of(f, "kernel/x.c"), 0700), 0);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "%.*sx.c", 2 * i, "./././././././././././././././././././././");
		assert_null(sources_text(f->sources, name, &len));
	}
	for (const char *at = f->notes; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 5);
	assert_non_null(strstr(f->notes, "no more such files are listed"));
}

static void test_notes_are_clean(void **state)
{
	struct fixture *f = *state;
	size_t len;

	add(f, "kernel");
	assert_int_equal(mkdir(path_of(f, "kernel/\x1b[2J"), 0700), 0);
	assert_null(sources_text(f->sources, "\x1b[2J", &len));
	assert_int_equal(rmdir(path_of(f, "kernel/\x1b[2J")), 0);
	assert_non_null(strstr(f->notes, "\\x1b[2J"));
	assert_null(strchr(f->notes, '\x1b'));
}

/* ---- folders that cannot be used ---- */

static void is_no_folder(struct fixture *f, const char *path, const char *why)
{
	struct err err = {0};

	assert_int_equal(sources_add(f->sources, path, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, path));
	assert_non_null(strstr(err.text, why));
}

static void test_file_as_folder(void **state)
{
	struct fixture *f = *state;

	is_no_folder(f, path_of(f, "secret.c"), "give the folder");
}

static void test_no_such_folder(void **state)
{
	is_no_folder(*state, "/nowhere/at/all", "No such file");
}

/* A FIFO as the folder must not make the program hang either. */
static void test_fifo_as_folder(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkfifo(path_of(f, "kernel/x.c"), 0600), 0);
	is_no_folder(f, path_of(f, "kernel/x.c"), "give the folder");
}

/* Take openat2() from the process, as on a kernel before 5.6. */
static void take_openat2_away(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {COUNT(code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(2);
}

static void test_host_without_openat2(void **state)
{
	struct fixture *f = *state;
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		struct err err = {0};

		take_openat2_away();
		_exit(sources_add(f->sources, f->top, &err) == -1 && err.code == EXIT_INPUT && strstr(err.text, "since 5.6") &&
				      strstr(err.text, f->top)
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- lines ---- */

static void is_line(struct fixture *f, unsigned line, const char *text)
{
	size_t len;
	const char *at = sources_line(f->sources, "x.c", line, &len);

	if (!text) {
		assert_null(at);
		return;
	}
	assert_non_null(at);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(at, text, len);
}

static void test_lines(void **state)
{
	struct fixture *f = *state;

	write_file(f, "kernel/x.c", "one\n\nthree");
	add(f, "kernel");
	is_line(f, 0, NULL);
	is_line(f, 1, "one");
	is_line(f, 2, "");
	is_line(f, 3, "three");
	is_line(f, 4, NULL);
	is_line(f, 4000000000u, NULL);
}

static void test_empty_file(void **state)
{
	struct fixture *f = *state;

	write_file(f, "kernel/x.c", "");
	add(f, "kernel");
	is_line(f, 1, NULL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_relative_name),
		T(test_name_made_printable),
		T(test_second_folder),
		T(test_absolute_name_below_a_folder),
		T(test_absolute_name_below_a_link),
		T(test_part_of_a_tree),
		T(test_folder_as_root),
		T(test_without_a_folder),
		T(test_file_that_a_debug_file_names),
		T(test_folder_before_what_a_debug_file_names),
		T(test_debug_file_that_names_no_source),
		T(test_debug_file_that_names_a_fifo),
		T(test_name_that_goes_up),
		T(test_link_out),
		T(test_relative_link_out),
		T(test_link_within),
		T(test_fifo),
		T(test_device),
		T(test_folder),
		T(test_large_file),
		T(test_largest_file),
		T(test_notes_are_few),
		T(test_notes_are_clean),
		T(test_file_as_folder),
		T(test_no_such_folder),
		T(test_fifo_as_folder),
		T(test_host_without_openat2),
		T(test_lines),
		T(test_empty_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
