/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of rules, suppressions and assertions that a user gives. */
#include "pruner/locks/assertions.h"
#include "pruner/lists/lists.h"
#include "pruner/prune.h"
#include "pruner/lists/suppress.h"
#include "tests/fuzz/fuzz.h"

static void line(void *ctx, const char *text)
{
	(void)ctx;
	fuzz_require(text[0] && !strchr(text, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	const char *path = fuzz_file(&file, data, size);
	struct err err = {0};
	struct suppressions *s = suppress_read(path, 20270131, &err);
	/* Not those of prune_rules_new(), since to read the built-in ones takes longer than all the rest. */
	struct prune_rules *rules = calloc(1, sizeof(*rules));
	struct assertions *assertions;

	fuzz_require(rules);
	if (s)
		suppress_leftover(s, line, NULL);
	else
		fuzz_refused(&err);
	suppress_free(s);
	err = (struct err){0};
	if (prune_rules_add(rules, path, &err))
		fuzz_refused(&err);
	prune_rules_free(rules);
	err = (struct err){0};
	assertions = assertions_read(path, &err);
	if (!assertions)
		fuzz_refused(&err);
	assertions_free(assertions);
	return 0;
}
