// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies of a disk in another process read the bytes of the moment when they were made, while the first process writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/vmm/block/disk.h"

#define BLOCK 4096u
#define BLOCKS 64u

static char path[] = "/tmp/test-disk-copy-XXXXXX";

static void fill(uint8_t *bytes, uint8_t value)
{
	memset(bytes, value, BLOCK);
}

static int transfer(struct disk *disk, bool write, void *bytes, size_t len, uint64_t offset)
{
	struct iovec iov = {bytes, len};

	return (write ? disk_write : disk_read)(disk, &iov, 1, offset);
}

static int put(struct disk *disk, unsigned block, uint8_t value)
{
	uint8_t bytes[BLOCK];

	fill(bytes, value);
	return transfer(disk, true, bytes, BLOCK, (uint64_t)block * BLOCK);
}

/* Whether all bytes of the block have this value. */
static bool has(struct disk *disk, unsigned block, uint8_t value)
{
	uint8_t bytes[BLOCK], expected[BLOCK];

	fill(expected, value);
	return transfer(disk, false, bytes, BLOCK, (uint64_t)block * BLOCK) == 0 && memcmp(bytes, expected, BLOCK) == 0;
}

/*
 * Runs in the child. The parent wrote block 1 before the copy began; after that it wrote blocks 2 and 3, discarded 4 and zeroed
 * 5. It did not write block 6. Returns 0, or the line of the check that failed.
 */
#define WANT(what)                       \
	do {                             \
		if (!(what))             \
			return __LINE__; \
	} while (0)
static int look(struct disk *live)
{
	struct err err = {0};
	struct disk *copy = disk_copy(live, &err), *other = disk_copy(live, &err);
	uint8_t bytes[2 * BLOCK];

	WANT(copy && other);
	WANT(disk_size(copy) == (uint64_t)BLOCKS * BLOCK);
	WANT(has(copy, 1, 0x11));
	for (unsigned block = 2; block <= 5; block++)
		WANT(transfer(copy, false, bytes, BLOCK, (uint64_t)block * BLOCK) == DISK_NEWER);
	WANT(has(copy, 6, 0));
	/* A request with one byte that is newer than the copy fails as a whole. */
	WANT(transfer(copy, false, bytes, 2 * BLOCK, BLOCK) == DISK_NEWER);
	/* Bytes that the copy has written belong to it, even where the parent wrote. To write a part of a block, it needs the
	 * rest. */
	WANT(put(copy, 2, 0x22) == 0 && has(copy, 2, 0x22));
	WANT(transfer(copy, true, bytes, 512, 3 * BLOCK) == DISK_NEWER);
	WANT(transfer(copy, true, bytes, 512, 6 * BLOCK) == 0);
	WANT(disk_discard(copy, 4 * BLOCK, BLOCK) == 0 && has(copy, 4, 0));
	WANT(disk_flush(copy) == 0);
	/* A copy does not see the writes of another copy. */
	WANT(has(other, 6, 0) && transfer(other, false, bytes, BLOCK, 2 * BLOCK) == DISK_NEWER);
	disk_close(copy);
	disk_close(other);
	return 0;
}

static int run_child(struct disk *live, int go)
{
	char byte;
	int line;

	/* Wait until the parent has written. */
	if (read(go, &byte, 1) != 1)
		return 1;
	line = look(live);
	if (line)
		fprintf(stderr, "%s:%d: not so in the child\n", __FILE__, line);
	return line != 0;
}

static void check_copy(bool overlay)
{
	const struct vmm_disk config = {.path = path, .overlay = overlay};
	struct err err = {0};
	struct disk *live = disk_open(&config, &err);
	int go[2], status;
	pid_t child;

	assert_non_null(live);
	assert_int_equal(disk_allow_copies(live, &err), 0);
	assert_int_equal(put(live, 1, 0x11), 0);
	assert_int_equal(pipe(go), 0);
	disk_copy_begins(live);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(run_child(live, go[0]));
	assert_int_equal(put(live, 2, 0x99), 0);
	assert_int_equal(transfer(live, true, (uint8_t[512]){1}, 512, 3 * BLOCK), 0);
	assert_int_equal(disk_discard(live, 4 * BLOCK, BLOCK), 0);
	assert_int_equal(disk_zero(live, 5 * BLOCK, BLOCK, false), 0);
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	/* The live disk has no byte that a copy wrote. */
	assert_true(has(live, 2, 0x99));
	assert_true(has(live, 6, 0));
	/* Bytes that are newer than one copy are older than the next copy. */
	disk_copy_begins(live);
	{
		struct disk *copy = disk_copy(live, &err);

		assert_true(has(copy, 2, 0x99));
		disk_close(copy);
	}
	assert_true(has(live, 2, 0x99));
	disk_close(live);
	close(go[0]);
	close(go[1]);
}

static void test_copy_of_an_image(void **state)
{
	(void)state;
	check_copy(false);
}

static void test_copy_of_an_overlay(void **state)
{
	(void)state;
	check_copy(true);
}

static void test_copy_of_what_is_read_only(void **state)
{
	const struct vmm_disk config = {.path = path, .read_only = true};
	struct err err = {0};
	struct disk *live = disk_open(&config, &err), *copy;

	(void)state;
	assert_non_null(live);
	assert_int_equal(disk_allow_copies(live, &err), 0);
	disk_copy_begins(live);
	copy = disk_copy(live, &err);
	assert_non_null(copy);
	assert_true(disk_read_only(copy));
	assert_true(has(copy, 6, 0));
	assert_int_not_equal(put(copy, 6, 1), 0);
	disk_close(copy);
	disk_close(live);
}

/* A disk that does not record its writes cannot show that any byte is unchanged. */
static void test_no_account(void **state)
{
	const struct vmm_disk config = {.path = path};
	struct err err = {0};
	struct disk *live = disk_open(&config, &err), *copy;
	uint8_t bytes[BLOCK];

	(void)state;
	assert_non_null(live);
	disk_copy_begins(live);
	copy = disk_copy(live, &err);
	assert_non_null(copy);
	assert_int_equal(transfer(copy, false, bytes, BLOCK, 0), DISK_NEWER);
	disk_close(copy);
	disk_close(live);
}

static int make_image(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0 || ftruncate(fd, (off_t)BLOCKS * BLOCK) < 0)
		return -1;
	return close(fd);
}

static int remove_image(void **state)
{
	(void)state;
	unlink(path);
	strcpy(path + strlen(path) - 6, "XXXXXX");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_copy_of_an_image, make_image, remove_image),
		cmocka_unit_test_setup_teardown(test_copy_of_an_overlay, make_image, remove_image),
		cmocka_unit_test_setup_teardown(test_copy_of_what_is_read_only, make_image, remove_image),
		cmocka_unit_test_setup_teardown(test_no_account, make_image, remove_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
