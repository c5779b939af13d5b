// SPDX-License-Identifier: GPL-2.0-or-later
/* Statements from source files. A user may give any source tree, so the reader must take any bytes; the sanitizers check. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/base/rng.h"
#include "pruner/lists/statement.h"

#define ROUNDS 200

struct fixture {
	char folder[64];
	char path[96];		 /* Of the folder's only file, a.c. */
	char inner[96];		 /* An empty folder in the folder: b. */
	struct sources *sources; /* look_at() makes new ones for each content of the file. */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	*state = f;
	strcpy(f->folder, "/tmp/test_prune_statement.XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/a.c", f->folder);
	snprintf(f->inner, sizeof(f->inner), "%s/b", f->folder);
	return mkdir(f->inner, 0700);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	sources_free(f->sources);
	unlink(f->path);
	rmdir(f->inner);
	rmdir(f->folder);
	free(f);
	return 0;
}

static void write_source(const struct fixture *f)
{
	FILE *file = fopen(f->path, "w");

	assert_non_null(file);
	assert_true(fputs("x = 1;\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Write a new random file. Returns the number of its lines. */
static unsigned write_any_source(const struct fixture *f, struct rng *rng)
{
	static const char some[] = "\"'/*\\\n\n#() =,;aX";
	FILE *file = fopen(f->path, "w");
	unsigned lines = 1;

	assert_non_null(file);
	for (uint64_t n = rng_below(rng, 5000); n; n--) {
		int c = rng_below(rng, 50) ? some[rng_below(rng, sizeof(some))] : 'a';

		fputc(c, file);
		lines += c == '\n';
	}
	assert_int_equal(fclose(file), 0);
	return lines;
}

static struct sources *look_at(struct fixture *f)
{
	sources_free(f->sources);
	f->sources = sources_new(NULL, NULL);
	assert_non_null(f->sources);
	assert_int_equal(sources_add(f->sources, f->folder, NULL), 0);
	return f->sources;
}

/* Every line but the last has a statement. The last line may be empty. No line after the last has one. */
static void test_any_source(void **state)
{
	struct fixture *f = *state;
	struct rng rng = {5};
	char text[STATEMENT_MAX];

	for (int round = 0; round < ROUNDS; round++) {
		unsigned lines = write_any_source(f, &rng);

		for (unsigned line = 0; line < 40; line++) {
			if (statement_at(look_at(f), "a.c", line, text))
				assert_in_range(strlen(text), 0, STATEMENT_MAX - 1);
			else
				assert_true(line == 0 || line >= lines);
		}
	}
}

static void test_path_that_leads_out_of_a_folder(void **state)
{
	struct fixture *f = *state;
	char text[STATEMENT_MAX];

	write_source(f);
	assert_true(statement_at(look_at(f), "a.c", 1, text));
	assert_false(statement_at(look_at(f), "b/../a.c", 1, text));
}

static void test_file_that_is_not_there(void **state)
{
	struct fixture *f = *state;
	char text[STATEMENT_MAX];

	write_source(f);
	assert_true(statement_at(look_at(f), "a.c", 1, text));
	assert_false(statement_at(look_at(f), "b.c", 1, text));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_any_source),
		T(test_path_that_leads_out_of_a_folder),
		T(test_file_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
