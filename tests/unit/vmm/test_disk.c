/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disk images: which are refused and with what message, locks, reads after writes, and overlays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "hv/vmm/block/disk.h"

#define KIB(n) ((size_t)(n) << 10)

struct room {
	char folder[64];
	char path[128]; /* of the image */
};

static int setup(void **state)
{
	static struct room room;

	strcpy(room.folder, "/tmp/outrider-disk-XXXXXX");
	assert_non_null(mkdtemp(room.folder));
	assert_int_equal(chmod(room.folder, 0755), 0);
	snprintf(room.path, sizeof(room.path), "%s/disk.img", room.folder);
	unsetenv("TMPDIR");
	*state = &room;
	return 0;
}

static int teardown(void **state)
{
	struct room *room = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", room->folder);
	return system(command);
}

/* ---- images ---- */

/* Byte `i` of an image that make_image() makes. No two sectors are alike. */
static uint8_t pattern(uint64_t i)
{
	return (uint8_t)(i * 7 + i / 512 * 13 + 1);
}

static void make_image(const char *path, size_t size)
{
	uint8_t *bytes = malloc(size + 1);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	for (size_t i = 0; i < size; i++)
		bytes[i] = pattern(i);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	free(bytes);
}

static void make_start(const char *path, size_t at, const void *magic, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
	assert_int_equal(fwrite(magic, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(truncate(path, 4096), 0);
}

static struct disk *must_open(const char *path, bool read_only, bool overlay)
{
	const struct vmm_disk config = {.path = path, .read_only = read_only, .overlay = overlay};
	struct err err = {0};
	struct disk *disk = disk_open(&config, &err);

	if (!disk)
		fail_msg("%s", err.text);
	return disk;
}

/* Check that disk_open() refuses the image with status 3 and a line that names it and has `words`. */
static void refused(const char *path, bool read_only, bool overlay, const char *words)
{
	const struct vmm_disk config = {.path = path, .read_only = read_only, .overlay = overlay};
	struct err err = {0};

	assert_null(disk_open(&config, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, path) || !strstr(err.text, words) || strchr(err.text, '\n'))
		fail_msg("'%s' is not about '%s'", err.text, words);
}

static int io(struct disk *disk, bool write, void *buf, size_t len, uint64_t offset)
{
	/* The buffer is in three pieces, and the second piece is empty. */
	struct iovec iov[] = {{buf, len / 3}, {NULL, 0}, {(char *)buf + len / 3, len - len / 3}};

	return write ? disk_write(disk, iov, 3, offset) : disk_read(disk, iov, 3, offset);
}

/* ---- what is refused ---- */

static void test_missing(void **state)
{
	const struct room *room = *state;

	refused(room->path, false, false, "No such file or directory: to make an empty disk: truncate -s 8G");
	refused(room->path, true, false, "No such file");
}

static void test_no_image(void **state)
{
	const struct room *room = *state;
	char fifo[128];

	refused(room->folder, false, false, "is a folder");
	refused(room->folder, true, false, "is a folder");
	snprintf(fifo, sizeof(fifo), "%s/fifo", room->folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	refused(fifo, true, false, "neither a file nor a block device");
	refused(fifo, false, false, "neither a file nor a block device");
	refused("/dev/null", false, false, "neither a file nor a block device");
}

static void test_sizes(void **state)
{
	const struct room *room = *state;

	make_image(room->path, 0);
	refused(room->path, false, false, "is empty");
	make_image(room->path, 1000);
	refused(room->path, false, false, "has 1000 bytes, which is no multiple of 512");
	refused(room->path, true, false, "truncate -s %512");
	make_image(room->path, 1024);
	disk_close(must_open(room->path, false, false));
}

static void test_not_permitted(void **state)
{
	const struct room *room = *state;
	struct disk *disk;

	make_image(room->path, 1024);
	assert_int_equal(chmod(room->path, 0444), 0);
	/* Root may write to every file, so the test becomes another user for a moment. */
	if (geteuid() == 0)
		assert_int_equal(seteuid(65534), 0);
	refused(room->path, false, false,
		"for writing: Permission denied: get the right to write to it, or use the image with ,ro");
	disk = must_open(room->path, true, false);
	disk_close(disk);
	assert_int_equal(seteuid(getuid()), 0);
	assert_int_equal(chmod(room->path, 0), 0);
	if (geteuid() == 0)
		assert_int_equal(seteuid(65534), 0);
	refused(room->path, true, false, "Permission denied");
	assert_int_equal(seteuid(getuid()), 0);
}

static void test_other_formats(void **state)
{
	static const struct {
		size_t at;
		const char *magic, *name, *qemu;
	} cases[] = {
		{0, "QFI\xfb", "qcow2", "-f qcow2 -O raw"},
		{0, "KDMV", "VMDK", "-f vmdk -O raw"},
		{0, "# Disk DescriptorFile", "VMDK", "-f vmdk -O raw"},
		{64, "\x7f\x10\xda\xbe", "VDI", "-f vdi -O raw"},
		{0, "vhdxfile", "VHDX", "-f vhdx -O raw"},
		{0, "conectix", "VHD", "-f vpc -O raw"},
		{0, "QED", "QED", "-f qed -O raw"},
		{0, "WithouFreSpacExt", "Parallels", "-f parallels -O raw"},
	};
	const struct room *room = *state;
	struct err err = {0};
	struct vmm_disk config = {0};
	struct disk *disk;
	char path[128], text[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_start(room->path, cases[i].at, cases[i].magic, strlen(cases[i].magic));
		refused(room->path, false, false, cases[i].name);
		refused(room->path, true, false, cases[i].qemu);
	}
	/* A guest can write the same bytes into a raw image. If the user says that the image is raw, no byte has another
	 * meaning. */
	make_start(room->path, 0, "QFI\xfb", 4);
	config = (struct vmm_disk){.path = room->path, .raw = true};
	disk = disk_open(&config, &err);
	assert_non_null(disk);
	assert_int_equal(disk_size(disk), 4096);
	disk_close(disk);
	refused(room->path, false, false, "give format=raw if it is a raw image and a guest wrote that beginning");
	/* The user can paste the command of the message into a shell. */
	snprintf(path, sizeof(path), "%s/it's a disk.qcow2", room->folder);
	make_start(path, 0, "QFI\xfb", 4);
	config = (struct vmm_disk){.path = path};
	assert_null(disk_open(&config, &err));
	snprintf(text, sizeof(text), "qemu-img convert -f qcow2 -O raw '%s/it'\\''s a disk.qcow2' '%s/it'\\''s a disk.raw'",
		 room->folder, room->folder);
	if (!strstr(err.text, text))
		fail_msg("'%s' does not have '%s'", err.text, text);
	assert_int_equal(unlink(path), 0);
}

/* ---- locks ---- */

static void test_one_writer_or_many_readers(void **state)
{
	const struct room *room = *state;
	struct disk *one, *two;

	make_image(room->path, KIB(8));
	one = must_open(room->path, false, false);
	refused(room->path, false, false, "is in use");
	refused(room->path, true, false, "is being written to");
	refused(room->path, false, true, "is being written to");
	disk_close(one);
	one = must_open(room->path, true, false);
	two = must_open(room->path, false, true);
	refused(room->path, false, false, ",ro or ,overlay");
	disk_close(one);
	refused(room->path, false, false, "is in use");
	disk_close(two);
	disk_close(must_open(room->path, false, false));
}

/* Take shared locks on bytes of the image as QEMU does. Returns the file descriptor that holds them. */
static int qemu(const char *path, const off_t *bytes, size_t count)
{
	int fd = open(path, O_RDWR);

	assert_true(fd >= 0);
	for (size_t i = 0; i < count; i++) {
		struct flock lock = {.l_type = F_RDLCK, .l_start = bytes[i], .l_len = 1};

		assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
	}
	return fd;
}

/* Whether QEMU could lock the bytes `takes`, and no other process has locked the bytes `asks`. */
static bool qemu_could(const char *path, const off_t *takes, size_t take_count, const off_t *asks, size_t ask_count)
{
	int fd = open(path, O_RDWR);
	bool could = true;

	for (size_t i = 0; i < take_count + ask_count; i++) {
		struct flock lock = {.l_type = i < take_count ? F_RDLCK : F_WRLCK,
				     .l_start = i < take_count ? takes[i] : asks[i - take_count],
				     .l_len = 1};

		assert_int_equal(fcntl(fd, F_OFD_GETLK, &lock), 0);
		could &= lock.l_type == F_UNLCK;
	}
	close(fd);
	return could;
}

/* The bytes that QEMU 7.2 and later lock and test: for a writable virtio-blk disk, a disk with readonly=on, and qemu-img info
 * -U. */
static void test_locks_of_qemu(void **state)
{
	static const off_t writer[] = {100, 101, 201}, reader[] = {100, 201}, info[] = {100};
	static const off_t sharer[] = {100, 101}; /* share-rw=on */
	static const off_t writer_asks[] = {200, 201, 101}, reader_asks[] = {200, 101}, info_asks[] = {200};
	const struct room *room = *state;
	struct disk *disk;
	int fd;

	make_image(room->path, KIB(8));
	fd = qemu(room->path, writer, 3);
	refused(room->path, false, false, "is in use");
	refused(room->path, true, false, "is being written to");
	close(fd);
	fd = qemu(room->path, sharer, 2);
	refused(room->path, false, false, "is in use");
	refused(room->path, true, false, "is being written to");
	close(fd);
	fd = qemu(room->path, reader, 2);
	refused(room->path, false, false, "is in use");
	disk_close(must_open(room->path, true, false));
	disk_close(must_open(room->path, false, true));
	close(fd);
	fd = qemu(room->path, info, 1);
	disk_close(must_open(room->path, false, false));
	close(fd);

	disk = must_open(room->path, false, false);
	assert_false(qemu_could(room->path, writer, 3, writer_asks, 3));
	assert_false(qemu_could(room->path, reader, 2, reader_asks, 2));
	assert_true(qemu_could(room->path, info, 1, info_asks, 1));
	disk_close(disk);
	disk = must_open(room->path, true, false);
	assert_false(qemu_could(room->path, writer, 3, writer_asks, 3));
	assert_true(qemu_could(room->path, reader, 2, reader_asks, 2));
	disk_close(disk);
	assert_true(qemu_could(room->path, writer, 3, writer_asks, 3));
}

/* ---- what is read after what was written ---- */

static void test_range_is_checked(void **state)
{
	static const struct {
		uint64_t offset;
		size_t len;
	} bad[] = {{KIB(8), 1},	    {KIB(8) - 511, 512},     {0, KIB(8) + 1},
		   {UINT64_MAX, 1}, {UINT64_MAX - 511, 512}, {INT64_MAX, 512}};
	const struct room *room = *state;
	static uint8_t buf[KIB(8) + 1];

	make_image(room->path, KIB(8));
	for (int overlay = 0; overlay < 2; overlay++) {
		struct disk *disk = must_open(room->path, false, overlay);

		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			assert_int_equal(io(disk, false, buf, bad[i].len, bad[i].offset), EINVAL);
			assert_int_equal(io(disk, true, buf, bad[i].len, bad[i].offset), EINVAL);
			assert_int_equal(disk_discard(disk, bad[i].offset, bad[i].len), EINVAL);
			assert_int_equal(disk_zero(disk, bad[i].offset, bad[i].len, true), EINVAL);
		}
		assert_int_equal(io(disk, true, buf, 0, KIB(8)), 0);
		assert_int_equal(disk_discard(disk, UINT64_MAX, UINT64_MAX), EINVAL);
		disk_close(disk);
	}
}

static void test_read_only(void **state)
{
	const struct room *room = *state;
	uint8_t buf[512] = {0};
	struct disk *disk;

	make_image(room->path, KIB(8));
	disk = must_open(room->path, true, true);
	assert_true(disk_read_only(disk));
	assert_int_equal(disk_size(disk), KIB(8));
	assert_int_equal(io(disk, true, buf, 512, 0), EROFS);
	assert_int_equal(disk_discard(disk, 0, 512), EROFS);
	assert_int_equal(disk_zero(disk, 0, 512, false), EROFS);
	assert_int_equal(disk_flush(disk), 0);
	assert_int_equal(io(disk, false, buf, 512, 512), 0);
	for (size_t i = 0; i < 512; i++)
		assert_int_equal(buf[i], pattern(512 + i));
	disk_close(disk);
}

/* If the file became shorter, a read is an I/O error, and no endless loop. */
static void test_shrunken_image(void **state)
{
	const struct room *room = *state;
	uint8_t buf[1024];
	struct disk *disk;

	make_image(room->path, KIB(8));
	disk = must_open(room->path, true, false);
	assert_int_equal(truncate(room->path, 512), 0);
	assert_int_equal(io(disk, false, buf, 1024, 0), EIO);
	disk_close(disk);
}

static void check_all(struct disk *disk, const uint8_t *expected, size_t size, unsigned step)
{
	uint8_t *found = malloc(size);

	assert_int_equal(io(disk, false, found, size, 0), 0);
	for (size_t i = 0; i < size; i++)
		if (found[i] != expected[i])
			fail_msg("after step %u byte %zu is %02x, not %02x", step, i, found[i], expected[i]);
	free(found);
}

/* Do 4000 random operations on a disk, and the same on an array. Their bytes must stay the same. */
static void random_work(struct disk *disk, uint8_t *expected, size_t size, uint64_t seed)
{
	struct rng rng = {seed};
	uint8_t *buf = malloc(size);

	for (unsigned step = 0; step < 4000; step++) {
		bool large = rng_below(&rng, 8) == 0;
		size_t sectors = size / 512, first = rng_below(&rng, sectors);
		size_t most = large ? sectors - first : 20, left = sectors - first;
		size_t len = 512 * (1 + rng_below(&rng, most < left ? most : left)), offset = first * 512;

		switch (rng_below(&rng, 5)) {
		case 0:
		case 1:
			for (size_t i = 0; i < len; i++)
				buf[i] = (uint8_t)rng_next(&rng);
			memcpy(expected + offset, buf, len);
			assert_int_equal(io(disk, true, buf, len, offset), 0);
			break;
		case 2:
			assert_int_equal(io(disk, false, buf, len, offset), 0);
			assert_memory_equal(buf, expected + offset, len);
			break;
		case 3:
			memset(expected + offset, 0, len);
			assert_int_equal(disk_zero(disk, offset, len, step % 2), 0);
			break;
		case 4:
			/* The content of discarded bytes is not specified, so expect from now on what this read returns. */
			assert_int_equal(disk_discard(disk, offset, len), 0);
			assert_int_equal(io(disk, false, expected + offset, len, offset), 0);
			break;
		}
		if (step % 256 == 0)
			check_all(disk, expected, size, step);
	}
	check_all(disk, expected, size, 4000);
	free(buf);
}

/* The second size ends in the middle of an overlay's block. */
static const size_t work_sizes[] = {KIB(256), KIB(256) + 1536, 512};

/* After random operations, the image or its overlay has the written bytes. An image under an overlay is unchanged. */
static void holds_what_was_written(const struct room *room, size_t size, bool overlay, uint64_t seed)
{
	uint8_t *expected = malloc(size);
	struct disk *disk;

	assert_non_null(expected);
	make_image(room->path, size);
	for (size_t i = 0; i < size; i++)
		expected[i] = pattern(i);
	disk = must_open(room->path, false, overlay);
	assert_string_equal(disk_written_path(disk), overlay ? room->folder : room->path);
	random_work(disk, expected, size, seed);
	assert_int_equal(disk_flush(disk), 0);
	disk_close(disk);
	for (size_t i = 0; overlay && i < size; i++)
		expected[i] = pattern(i);
	disk = must_open(room->path, true, false);
	check_all(disk, expected, size, 0);
	disk_close(disk);
	free(expected);
}

static void test_file_holds_what_was_written(void **state)
{
	for (size_t s = 0; s < sizeof(work_sizes) / sizeof(work_sizes[0]); s++)
		holds_what_was_written(*state, work_sizes[s], false, 11 + s);
}

static void test_overlay_holds_what_was_written(void **state)
{
	for (size_t s = 0; s < sizeof(work_sizes) / sizeof(work_sizes[0]); s++)
		holds_what_was_written(*state, work_sizes[s], true, 23 + s);
}

static void test_overlay_leaves_no_file(void **state)
{
	const struct room *room = *state;
	struct disk *disk;
	char other[128];

	make_image(room->path, KIB(8));
	disk = must_open(room->path, false, true);
	assert_int_equal(unlink(room->path), 0);
	assert_int_equal(rmdir(room->folder), 0); /* empty */
	disk_close(disk);
	assert_int_equal(mkdir(room->folder, 0700), 0);
	make_image(room->path, KIB(8));

	snprintf(other, sizeof(other), "%s/other", room->folder);
	assert_int_equal(setenv("TMPDIR", other, 1), 0);
	refused(room->path, false, true, "let TMPDIR name a folder with room");
	assert_int_equal(mkdir(other, 0700), 0);
	disk = must_open(room->path, false, true);
	assert_string_equal(disk_written_path(disk), other);
	disk_close(disk);
	unsetenv("TMPDIR");
}

#define THREADS 4
#define SHARED KIB(512)

struct writer {
	pthread_t thread;
	struct disk *disk;
	unsigned number;
	int error;
};

/* Write each sector whose number modulo THREADS is this thread's, so that several threads copy each block up at once. */
static void *write_sectors(void *arg)
{
	struct writer *w = arg;
	uint8_t buf[512];

	for (size_t sector = w->number; sector < SHARED / 512 && !w->error; sector += THREADS) {
		memset(buf, (int)(sector % 251), sizeof(buf));
		if (sector % 3 == 0)
			w->error = disk_zero(w->disk, sector * 512, 512, true);
		else
			w->error = io(w->disk, true, buf, 512, sector * 512);
	}
	return NULL;
}

static void test_neighbours_do_not_lose_writes(void **state)
{
	const struct room *room = *state;
	uint8_t *found = malloc(SHARED);

	for (unsigned round = 0; round < 20; round++) {
		struct writer writers[THREADS] = {0};
		struct disk *disk;

		make_image(room->path, SHARED);
		disk = must_open(room->path, false, true);
		for (unsigned i = 0; i < THREADS; i++) {
			writers[i] = (struct writer){.disk = disk, .number = i};
			assert_int_equal(pthread_create(&writers[i].thread, NULL, write_sectors, &writers[i]), 0);
		}
		for (unsigned i = 0; i < THREADS; i++) {
			pthread_join(writers[i].thread, NULL);
			assert_int_equal(writers[i].error, 0);
		}
		assert_int_equal(io(disk, false, found, SHARED, 0), 0);
		for (size_t i = 0; i < SHARED; i++)
			if (found[i] != (i / 512 % 3 ? i / 512 % 251 : 0))
				fail_msg("round %u: byte %zu of sector %zu is %02x", round, i % 512, i / 512, found[i]);
		disk_close(disk);
	}
	free(found);
}

/* If the overlay cannot grow, the write fails, and the old bytes stay. */
static void test_full_host(void **state)
{
	const struct room *room = *state;
	static uint8_t buf[KIB(128)];
	struct rlimit old, small = {KIB(64), KIB(64)};
	struct disk *disk;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);

	make_image(room->path, KIB(256));
	disk = must_open(room->path, false, true);
	memset(buf, 1, sizeof(buf));
	assert_int_equal(io(disk, true, buf, KIB(4), 0), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	/* The write ends beyond the limit: it writes a part and fails. Blocks that the overlay did not have stay those of the
	 * image. */
	assert_int_equal(io(disk, true, buf, KIB(64), KIB(32)), EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(io(disk, false, buf, KIB(128), 0), 0);
	for (size_t i = 0; i < KIB(128); i++)
		assert_int_equal(buf[i], i < KIB(4) ? 1 : pattern(i));
	/* Once there is space again, all operations work. */
	memset(buf, 2, sizeof(buf));
	assert_int_equal(io(disk, true, buf, 512, KIB(40) + 512), 0);
	assert_int_equal(io(disk, false, buf, KIB(4), KIB(40)), 0);
	for (size_t i = 0; i < KIB(4); i++)
		assert_int_equal(buf[i], i / 512 == 1 ? 2 : pattern(KIB(40) + i));
	disk_close(disk);
	signal(SIGXFSZ, handler);
}

/* Discarded blocks use no space on the host. */
static void test_discard_frees(void **state)
{
	const struct room *room = *state;
	struct stat before, after;
	struct disk *disk;

	make_image(room->path, KIB(1024));
	disk = must_open(room->path, false, false);
	assert_int_equal(disk_flush(disk), 0);
	assert_int_equal(stat(room->path, &before), 0);
	assert_int_equal(disk_discard(disk, KIB(256), KIB(512)), 0);
	assert_int_equal(stat(room->path, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	assert_true(after.st_blocks <= before.st_blocks - (blkcnt_t)(KIB(512) / 512));
	disk_close(disk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_image, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sizes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_permitted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_formats, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_writer_or_many_readers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_locks_of_qemu, setup, teardown),
		cmocka_unit_test_setup_teardown(test_range_is_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_only, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shrunken_image, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_holds_what_was_written, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overlay_holds_what_was_written, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overlay_leaves_no_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_neighbours_do_not_lose_writes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_host, setup, teardown),
		cmocka_unit_test_setup_teardown(test_discard_frees, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
