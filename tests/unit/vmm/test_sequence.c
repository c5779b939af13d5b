/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PCI devices and their workers with a hostile guest of several CPUs: the inputs of the fuzz target "sequence", and sequences
 * from a generator with a fixed seed. All checks are in tests/fuzz/sequence.h. The purpose of this program is ThreadSanitizer,
 * which cannot be linked to libFuzzer's targets: make SAN=thread build/san-thread/sequence.
 *
 * The environment variable SEQUENCES sets the number of generated sequences (60), and SEED the seed of the first one (1).
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "tests/fuzz/sequence.h"

#define CORPUS "tests/fuzz/corpus/sequence"

uint8_t guest_ram[SEQ_RAM] __attribute__((aligned(4096)));

/*
 * The guest's CPUs and the devices access guest memory without synchronisation. No other race is suppressed. The suppression
 * names the variable, because ThreadSanitizer reports it as the location of all these accesses.
 */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return "race:^guest_ram$\n";
}

#ifdef __SANITIZE_THREAD__
/* gcc 12's ThreadSanitizer does not intercept this call, and would take a joined thread for one that still runs. */
int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *until)
{
	(void)clock;
	(void)until;
	return pthread_join(thread, result);
}
#endif

static void run_file(const char *name)
{
	uint8_t data[1 + SEQ_OPS_MAX * SEQ_OP];
	char path[512];
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), CORPUS "/%s", name);
	file = fopen(path, "r");
	assert_non_null(file);
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	seq_run(data, size);
}

static void corpus(void **state)
{
	struct dirent *entry;
	DIR *dir = opendir(CORPUS);
	unsigned count = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			run_file(entry->d_name);
			count++;
		}
	closedir(dir);
	assert_true(count > 0);
}

static unsigned long number(const char *name, unsigned long usual)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : usual;
}

static void generated(void **state)
{
	unsigned long seed = number("SEED", 1), last = seed + number("SEQUENCES", 60);

	(void)state;
	for (; seed < last; seed++) {
		uint8_t data[1 + 100 * SEQ_OP];
		struct rng rng = {.state = seed};

		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = (uint8_t)rng_next(&rng);
		seq_run(data, sizeof(data));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(corpus), cmocka_unit_test(generated)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
