/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mutated debug files: every query returns an answer, or refuses with a reason, in bounded time. The seed is fixed, so that a
 * failure repeats. For longer runs the program takes two arguments: the number of cases for each sample, and the first seed.
 */
#include "tests/unit/symbols/dwarf_sample.h"

#include <signal.h>
#include <sys/mman.h>

#include "hv/base/rng.h"

#define CASES 400
#define SECONDS_A_CASE 60 /* The limit for a case, which takes milliseconds on an idle machine. */

static const char *const builds[][2] = {
	{"gcc", "-gdwarf-5 " SAMPLE_LINKED},
	{"gcc", "-gdwarf-4 -fdebug-types-section " SAMPLE_LINKED},
	{"gcc", "-gdwarf-5 -c "},
	{"gcc", "-gdwarf-4 -gz -c "},
	{"clang", "-gdwarf-5 " SAMPLE_LINKED},
};

struct options {
	unsigned long cases, seed;
};

static volatile uint64_t current; /* The seed of the case, which is printed when the case fails. */

static void say_case(int signal)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "signal %d in case %lu\n", signal, (unsigned long)current);

	if (write(STDERR_FILENO, text, (size_t)n) != n || signal)
		_exit(1);
}

static uint32_t below(struct rng *rng, size_t n)
{
	return (uint32_t)rng_below(rng, n);
}

/* Choose the place of a change. Most changes go into a debug section, because most of the file's bytes are relocations. */
static size_t choose_place(struct rng *rng, const struct sample *good)
{
	static const char *const favourites[] = {".debug_info",	    ".debug_abbrev",   ".debug_line",	".debug_aranges",
						 ".debug_loclists", ".debug_rnglists", ".debug_ranges", ".debug_loc",
						 ".debug_info",	    ".debug_abbrev",   ".debug_types",	".debug_addr"};
	const char *name = favourites[below(rng, sizeof(favourites) / sizeof(favourites[0]))];
	const uint8_t *section;
	size_t len = 0;

	section = below(rng, 4) ? sample_section(good, name, &len) : NULL;
	if (!section || len < 9)
		return below(rng, good->len - 8);
	return (size_t)(section - good->bytes) + below(rng, len - 8);
}

static void change(struct rng *rng, const struct sample *good, uint8_t *bytes)
{
	static const uint32_t interesting[] = {0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0};
	size_t at = choose_place(rng, good);

	switch (below(rng, 4)) {
	case 0:
		bytes[at] = (uint8_t)rng_next(rng);
		break;
	case 1:
		bytes[at] ^= (uint8_t)(1u << below(rng, 8));
		break;
	case 2:
		memcpy(bytes + at, &interesting[below(rng, sizeof(interesting) / sizeof(interesting[0]))], 4);
		break;
	default:
		memmove(bytes + at, bytes + choose_place(rng, good), 1 + below(rng, 8));
		break;
	}
}

/* Check that a refused query says why, in one line. */
static void check_refusal(int n, const struct err *err)
{
	if (n >= 0) {
		assert_int_equal(err->code, EXIT_OK);
		return;
	}
	assert_true(err->code == EXIT_INPUT || err->code == EXIT_INTERNAL);
	assert_true(err->text[0] && !strchr(err->text, '\n'));
}

static void ask(struct debuginfo *di, uint64_t pc, uint64_t data)
{
	static struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES];
	char text[DEBUGINFO_VALUE_MAX];
	struct debuginfo_datum d[8], member;
	bool pointer;
	struct err err = {0};
	int n = debuginfo_lines(di, pc, frames, &err);

	check_refusal(n, &err);
	for (int i = 0; i < n; i++) {
		assert_true(!frames[i].function || strlen(frames[i].function) < 100000);
		assert_true(!frames[i].file || strlen(frames[i].file) < 100000);
	}
	for (int reg = X86_RAX; reg <= X86_RDI; reg += X86_RDI) {
		err = (struct err){0};
		n = debuginfo_datum(di, pc, (enum x86_gpr)reg, (int64_t)(data & 0x7f), 4, d, 8, &err);
		check_refusal(n, &err);
		err = (struct err){0};
		if (n > 0)
			check_refusal(debuginfo_member(di, d[0].owner_id, data % 256, 1 + data % 8, &member, &err), &err);
	}
	err = (struct err){0};
	n = debuginfo_variable_at(di, data, 1 + data % 8, d, &err);
	check_refusal(n, &err);
	if (n == 1)
		check_refusal(debuginfo_value(di, d, (const uint8_t *)&data, 1 + data % 8, text, &pointer, &err), &err);
}

static void ask_all(struct debuginfo *di, struct rng *rng, bool linked)
{
	uint64_t text = linked ? 0xffffffff81000000 : 0xffffffffc0000000, data = linked ? 0xffffffff82000000 : text + 0x10000;

	debuginfo_place(di, ".text", text);
	debuginfo_place(di, ".bss", data);
	for (unsigned i = 0; i < 6; i++)
		ask(di, text + below(rng, 0x100), data + below(rng, 0x120));
}

static void try_case(const struct sample *good, struct rng *rng, bool linked)
{
	uint8_t *bytes = malloc(good->len);
	size_t len = good->len;
	struct debuginfo *di;
	struct err err = {0};
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	assert_non_null(bytes);
	assert_true(fd >= 0);
	memcpy(bytes, good->bytes, len);
	for (uint32_t i = 1 + below(rng, 6); i; i--)
		change(rng, good, bytes);
	if (!below(rng, 32))
		len = below(rng, len);
	assert_int_equal(write(fd, bytes, len), len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	alarm(SECONDS_A_CASE);
	di = debuginfo_open(path, &err);
	if (di)
		ask_all(di, rng, linked);
	else
		check_refusal(-1, &err);
	debuginfo_close(di);
	alarm(0);
	close(fd);
	free(bytes);
}

static void test_mutated(void **state)
{
	const struct options *options = *state;

	for (size_t b = 0; b < sizeof(builds) / sizeof(builds[0]); b++) {
		struct sample good;

		sample_build(&good, builds[b][0], builds[b][1]);
		for (unsigned long i = 0; i < options->cases; i++) {
			struct rng rng;

			current = options->seed + b * 1000000000 + i;
			rng.state = current;
			try_case(&good, &rng, !strstr(builds[b][1], "-c "));
		}
		sample_free(&good);
	}
}

int main(int argc, char **argv)
{
	struct options options = {.cases = argc > 1 ? strtoul(argv[1], NULL, 10) : CASES,
				  .seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1};
	const struct sigaction action = {.sa_handler = say_case};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(test_mutated, &options),
	};

	sigaction(SIGALRM, &action, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
