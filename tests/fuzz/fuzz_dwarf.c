/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug files: source lines, variables and the types of what an instruction accesses. */
#include "symbols/dwarf/debuginfo.h"
#include "tests/fuzz/fuzz.h"

#define TEXT 0xffffffff81000000ull
#define DATA 0xffffffff82000000ull

static void answered(int n, const struct err *err)
{
	if (n < 0)
		fuzz_refused(err);
}

static void ask(struct debuginfo *di, uint64_t pc, uint64_t data)
{
	static struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES];
	char text[DEBUGINFO_VALUE_MAX];
	struct debuginfo_datum d[8], member;
	struct err err = {0};
	bool pointer;
	int n = debuginfo_lines(di, pc, frames, &err);

	answered(n, &err);
	for (int i = 0; i < n; i++)
		fuzz_require((!frames[i].function || strlen(frames[i].function) < 1u << 20) &&
			     (!frames[i].file || strlen(frames[i].file) < 1u << 20));
	err = (struct err){0};
	n = debuginfo_datum(di, pc, X86_RDI, (int64_t)(data & 0x3f), 4, d, 8, &err);
	answered(n, &err);
	err = (struct err){0};
	if (n > 0)
		answered(debuginfo_member(di, d[0].owner_id, data & 0xff, 1 + data % 8, &member, &err), &err);
	err = (struct err){0};
	n = debuginfo_variable_at(di, data, 1 + data % 8, d, &err);
	answered(n, &err);
	err = (struct err){0};
	if (n == 1)
		answered(debuginfo_value(di, d, (const uint8_t *)&data, 1 + data % 8, text, &pointer, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	struct err err = {0};
	struct debuginfo *di = debuginfo_open(fuzz_file(&file, data, size), &err);

	if (!di) {
		fuzz_refused(&err);
		return 0;
	}
	debuginfo_place(di, ".text", TEXT);
	debuginfo_place(di, ".data", DATA);
	for (uint64_t i = 0; i < 4; i++)
		ask(di, TEXT + i * 9, DATA + i * 6);
	debuginfo_close(di);
	return 0;
}
