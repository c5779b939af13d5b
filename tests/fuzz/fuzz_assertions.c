/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of `outrider locks --assert` that anybody may have written: read, and checked against a record of accesses. */
#include "pruner/locks/assertions.h"
#include "symbols/insn/insn.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/report/lock_sample.h"

static void look_at(const struct assertion *a, uint64_t accesses)
{
	uint64_t broken = 0;

	fuzz_require(a->text[0] && !strchr(a->text, '\n'));
	fuzz_require(a->rw && !(a->rw & ~(INSN_READ | INSN_WRITE)));
	fuzz_require(a->checked <= a->seen && a->seen <= accesses && a->broken + a->unknown <= a->checked);
	for (size_t i = 0; i < a->break_count; i++) {
		fuzz_require(!i || a->breaks[i].count <= a->breaks[i - 1].count);
		broken += a->breaks[i].count;
	}
	fuzz_require(broken == a->broken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	static struct protection *record;
	struct assertions *a;
	struct err err = {0};
	uint64_t accesses = 0;
	size_t broken = 0;

	if (!record) {
		record = sample_protection();
		fuzz_require(record);
		protection_name(record);
	}
	a = assertions_read(fuzz_file(&file, data, size), &err);
	if (!a) {
		fuzz_refused(&err);
		return 0;
	}
	/* A second record adds to what the first one said. */
	fuzz_require(assertions_check(a, record, NULL) == 0 && assertions_check(a, record, NULL) == 0);
	for (uint32_t i = 0; i < record->access_count; i++)
		accesses += 2 * record->accesses[i].count;
	for (size_t i = 0; i < a->count; i++) {
		look_at(&a->list[i], accesses);
		broken += a->list[i].broken != 0;
	}
	fuzz_require(assertions_broken(a) == broken);
	assertions_free(a);
	return 0;
}
