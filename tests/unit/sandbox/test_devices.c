// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Devices are confined as in a run: each device serves the requests of its fuzz target's corpus in a child, on a thread that
 * may make only the calls of its kind.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "hv/sandbox/sandbox.h"
#include "hv/vmm/block/virtio_blk.h"
#include "hv/vmm/rng/virtio_rng.h"
#include "hv/vmm/vsock/virtio_vsock.h"
#include "tests/fuzz/rig.h"

#define CORPUS "tests/fuzz/corpus/"
#define IMAGE_LEN (64u << 10)

static struct rig rig;

/* Every feature that a device has. */
#define ALL_FEATURES UINT64_MAX

static void make_blk(const char *folder)
{
	static const struct vmm_messages nobody;
	static uint8_t image[IMAGE_LEN];
	static struct fuzz_file file;
	struct vmm_disk config = {.queues = 4};

	(void)folder;
	config.path = fuzz_file(&file, image, sizeof(image));
	assert_non_null(virtio_blk_new(&rig.virtio, &config, 0, 4, &nobody, NULL));
}

static void make_rng(const char *folder)
{
	(void)folder;
	assert_non_null(virtio_rng_new(&rig.virtio, 0, NULL));
}

static void make_vsock(const char *folder)
{
	char path[64];
	const struct vmm_config config = {.vsock_cid = 3, .vsock_socket = path};

	snprintf(path, sizeof(path), "%s/v", folder);
	assert_non_null(virtio_vsock_new(&rig.virtio, &config, 0, NULL));
}

static size_t read_file(const char *folder, const char *name, uint8_t *data, size_t size)
{
	char path[512];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	assert_non_null(file);
	n = fread(data, 1, size, file);
	fclose(file);
	return n;
}

/* Serve the requests of a corpus file. The fuzz target itself uses the first `skip` bytes. Returns the child's status. */
static int serve_confined(enum sandbox_kind kind, void (*make)(const char *folder), const uint8_t *data, size_t size,
			  const char *folder)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		rig_open(&rig);
		make(folder);
		if (sandbox_prepare(NULL, NULL, NULL) < 0)
			_exit(100);
		sandbox_thread(kind);
		rig_start(&rig, ALL_FEATURES, 16);
		rig_requests(&rig, ALL_FEATURES, 16, data, size);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void serve_corpus(enum sandbox_kind kind, void (*make)(const char *folder), const char *corpus, size_t skip)
{
	char folder[] = "/tmp/outrider-devices-XXXXXX", command[64];
	DIR *dir = opendir(corpus);
	const struct dirent *entry;
	unsigned count = 0, failed = 0;

	assert_non_null(dir);
	assert_non_null(mkdtemp(folder));
	while ((entry = readdir(dir)) != NULL) {
		static uint8_t data[65536];
		size_t size;

		if (entry->d_name[0] == '.')
			continue;
		size = read_file(corpus, entry->d_name, data, sizeof(data));
		assert_true(size > skip);
		count++;
		if (serve_confined(kind, make, data + skip, size - skip, folder) != 0) {
			print_error("%s/%s\n", corpus, entry->d_name);
			failed++;
		}
	}
	closedir(dir);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
	assert_true(count >= 3);
	assert_int_equal(failed, 0);
}

static void disks(void **state)
{
	(void)state;
	serve_corpus(SANDBOX_BLK, make_blk, CORPUS "blk", 3);
}

static void entropy(void **state)
{
	(void)state;
	serve_corpus(SANDBOX_RNG, make_rng, CORPUS "rng", 1);
}

static void sockets(void **state)
{
	(void)state;
	serve_corpus(SANDBOX_VSOCK, make_vsock, CORPUS "vsock", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(disks),
		cmocka_unit_test(entropy),
		cmocka_unit_test(sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
