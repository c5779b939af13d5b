/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine gets the file descriptors that its disks need, or reports that it cannot. Each test sets its own limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "hv/vmm/block/virtio_blk.h"
#include "hv/vmm/descriptors.h"
#include "tests/fuzz/rig.h"

static struct vmm_disk disks[VMM_MAX_DISKS];
static const struct vmm_config most = {.cpus = VMM_MAX_CPUS, .disks = disks, .disk_count = VMM_MAX_DISKS};

/* Run `body` in a child with these limits. `body` returns 0 when it passes. */
static void within(rlim_t soft, rlim_t hard, int (*body)(void))
{
	const struct rlimit limit = {soft, hard};
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0)
		_exit(setrlimit(RLIMIT_NOFILE, &limit) < 0 ? 100 : body());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Make the largest number of disks, with all queues, as a machine does. */
static int make_disks(void)
{
	static const struct vmm_messages nobody;
	static uint8_t image[4096];
	static struct fuzz_file file[VMM_MAX_DISKS];
	static struct rig rig;

	rig_open(&rig);
	for (unsigned i = 0; i < VMM_MAX_DISKS; i++) {
		disks[i].path = fuzz_file(&file[i], image, sizeof(image));
		if (!virtio_blk_new(&rig.virtio, &disks[i], i, most.cpus, &nobody, NULL))
			return 1;
	}
	return 0;
}

static int allowed_and_made(void)
{
	return descriptors_allow(&most, NULL) < 0 ? 2 : make_disks();
}

static void test_the_usual_limit_is_raised(void **state)
{
	(void)state;
	within(1024, 4096, allowed_and_made);
}

static int too_low(void)
{
	struct err err = {0};

	if (descriptors_allow(&most, &err) == 0 || err.code != EXIT_INPUT)
		return 1;
	return strstr(err.text, "and this process may have 600 (ulimit -H -n): raise that limit, or give fewer disks") ? 0 : 2;
}

static void test_a_hard_limit_that_is_too_low(void **state)
{
	(void)state;
	within(600, 600, too_low);
	within(64, 600, too_low);
}

static int soft_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	return (int)limit.rlim_cur;
}

static int stays(void)
{
	const struct vmm_config small = {.cpus = 1};
	int before = soft_limit();

	return descriptors_allow(&small, NULL) < 0 || soft_limit() != before;
}

static int becomes_the_hard_one(void)
{
	const struct vmm_config small = {.cpus = 1};

	return descriptors_allow(&small, NULL) < 0 || soft_limit() != 700;
}

static void test_what_is_enough(void **state)
{
	(void)state;
	within(3000, 4096, stays);
	within(128, 700, becomes_the_hard_one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_usual_limit_is_raised),
		cmocka_unit_test(test_a_hard_limit_that_is_too_low),
		cmocka_unit_test(test_what_is_enough),
	};

	for (unsigned i = 0; i < VMM_MAX_DISKS; i++)
		disks[i].queues = VMM_MAX_CPUS;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
