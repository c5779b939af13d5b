/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mutated inputs for every reader of data from a guest or a user. Seeds are fixed, so that a failure repeats. The tests check
 * that no reader crashes (with the sanitizers: reads out of bounds or leaks), that a refusal says why, and that every query
 * works on accepted input.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hv/base/rng.h"
#include "symbols/insn/insn.h"
#include "tests/unit/symbols/btf_maker.h"
#include "tests/unit/symbols/elf_maker.h"
#include "tests/unit/symbols/kallsyms_maker.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SYMBOLS 300

static uint32_t below(struct rng *rng, size_t n)
{
	return (uint32_t)rng_below(rng, n);
}

/* Return a changed copy: some bytes or words are overwritten, and sometimes the end is cut off or a piece is copied elsewhere.
 */
static struct blob mutate(struct rng *rng, const struct blob *good)
{
	static const uint32_t interesting[] = {0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0};
	uint32_t changes = 1 + below(rng, 8);
	struct blob b = {0};

	blob_put(&b, good->bytes, good->len);
	for (uint32_t i = 0; i < changes; i++) {
		size_t at = below(rng, b.len - 8);

		switch (below(rng, 4)) {
		case 0:
			b.bytes[at] = (uint8_t)rng_next(rng);
			break;
		case 1:
			b.bytes[at] ^= 1u << below(rng, 8);
			break;
		case 2:
			memcpy(b.bytes + at, &interesting[below(rng, COUNT(interesting))], 4);
			break;
		default:
			memmove(b.bytes + at, b.bytes + below(rng, b.len - 8), 8);
			break;
		}
	}
	if (!below(rng, 8))
		b.len = below(rng, b.len);
	/* Allocate exactly this size, so that the sanitizer sees a read of one byte too many. */
	b.bytes = realloc(b.bytes, b.len ? b.len : 1);
	assert_non_null(b.bytes);
	return b;
}

static void check_refusal(const struct err *err)
{
	assert_int_equal(err->code, EXIT_INPUT);
	assert_true(err->text[0] && !strchr(err->text, '\n'));
}

static void query_symtab(struct symtab *st)
{
	struct symbol sym, found;

	symtab_set_slide(st, 0x4000000);
	for (size_t i = 0; i < symtab_count(st); i++) {
		symtab_get(st, i, &sym);
		assert_true(strlen(sym.name) > 0);
		assert_int_equal(symtab_find(st, sym.name, &found), 0);
		symtab_at(st, sym.addr, &found);
		symtab_at(st, sym.addr + sym.size, &found);
	}
	symtab_free(st);
}

static void fuzz_file(const struct blob *good, unsigned rounds, uint64_t seed)
{
	struct rng rng = {.state = seed};

	for (unsigned i = 0; i < rounds; i++) {
		struct blob b = mutate(&rng, good);
		int fd = memfd_create("fuzz", 0);
		struct err err = {0};
		struct symtab *st;
		char path[64];

		assert_true(fd >= 0);
		assert_int_equal(write(fd, b.bytes, b.len), b.len);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		st = symtab_load(path, &err);
		close(fd);
		if (st)
			query_symtab(st);
		else
			check_refusal(&err);
		blob_free(&b);
	}
}

static void test_system_map(void **state)
{
	struct blob map = {0};

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		char line[64];

		snprintf(line, sizeof(line), "ffffffff81%06x t function_%u\n", i * 48, i);
		blob_put(&map, line, strlen(line));
	}
	fuzz_file(&map, 2000, 1);
	blob_free(&map);
}

static void test_elf(void **state)
{
	struct made_symbol syms[40];
	struct blob elf;

	(void)state;
	for (unsigned i = 0; i < COUNT(syms); i++)
		syms[i] = (struct made_symbol){
			"a_function", IMAGE_BASE + i * 32, 32, MADE_TEXT + i % 4, i % 3, i % 2 ? STT_FUNC : STT_OBJECT,
		};
	elf = make_elf(syms, COUNT(syms));
	fuzz_file(&elf, 4000, 2);
	blob_free(&elf);
}

static void make_guest_symbols(struct symbol syms[SYMBOLS], char names[SYMBOLS][32])
{
	for (unsigned i = 0; i < SYMBOLS; i++) {
		snprintf(names[i], sizeof(names[i]), "mapped_function_%u", i);
		syms[i] = (struct symbol){.name = names[i], .addr = IMAGE_BASE + i * 16, .type = 't'};
	}
}

static void fuzz_kallsyms(const struct made_layout *layout, unsigned rounds, uint64_t seed)
{
	struct symbol syms[SYMBOLS];
	char names[SYMBOLS][32];
	struct blob good = {0};
	struct rng rng = {.state = seed};

	make_guest_symbols(syms, names);
	made_image(&good, layout, syms, SYMBOLS);
	/* Drop the padding before the tables, so that mutations change the tables. */
	memmove(good.bytes, good.bytes + 5000 * 4, good.len - 5000 * 4);
	good.len -= 5000 * 4;
	for (unsigned i = 0; i < rounds; i++) {
		struct blob b = mutate(&rng, &good);
		struct fake_memory mem = {0};
		struct guest_reader reader = fake_reader(&mem);
		struct err err = {0};
		struct symtab *st;

		fake_memory_map(&mem, IMAGE_BASE, b.bytes, b.len);
		st = symtab_from_kallsyms(&reader, IMAGE_BASE, IMAGE_BASE + good.len, &err);
		if (st)
			query_symtab(st);
		else
			check_refusal(&err);
		blob_free(&b);
	}
	blob_free(&good);
}

static void test_kallsyms(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(made_layouts); i++)
		fuzz_kallsyms(&made_layouts[i], 300, 100 + i);
}

/* Make types of every kind that refer to each other at random. */
static struct blob make_wild_btf(struct rng *rng)
{
	static const uint32_t plain[] = {BTF_PTR, BTF_TYPEDEF, BTF_CONST, BTF_VOLATILE, BTF_TYPE_TAG, BTF_FLOAT};
	struct btf_maker m = {0};
	struct blob b;

	for (unsigned i = 0; i < 60; i++) {
		char name[16];

		snprintf(name, sizeof(name), "t%u", below(rng, 30));
		switch (below(rng, 5)) {
		case 0:
			make_int(&m, name, below(rng, 20));
			break;
		case 1:
			make_array(&m, below(rng, 70), below(rng, 2) ? below(rng, 5) : UINT32_MAX);
			break;
		case 2:
			make_type(&m, name, plain[below(rng, COUNT(plain))], 0, below(rng, 70));
			break;
		default:
			make_type(&m, name, (below(rng, 2) ? KIND_FLAG : 0) | (below(rng, 2) ? BTF_STRUCT : BTF_UNION), 3, 64);
			make_field(&m, "x", below(rng, 70), (uint32_t)rng_next(rng));
			make_field(&m, "", below(rng, 70), below(rng, 512));
			make_field(&m, "", below(rng, 70), below(rng, 512));
			break;
		}
	}
	b = make_btf(&m);
	make_free(&m);
	return b;
}

static void query_btf(const struct btf *btf)
{
	static const char *const paths[] = {"x", "x.x", "x[0]", "x[t1].x", "x.x.x.x", "y", "x[3][2][1].x"};
	struct btf_member member;
	int64_t value;

	for (unsigned i = 0; i < 30; i++) {
		char name[16];

		snprintf(name, sizeof(name), "t%u", i);
		btf_sizeof(btf, name);
		for (size_t p = 0; p < COUNT(paths); p++) {
			if (!btf_member(btf, name, paths[p], &member))
				assert_true(member.offset <= INT32_MAX && member.size <= INT32_MAX);
		}
	}
	btf_enumerator(btf, "x", &value);
}

static void test_btf(void **state)
{
	struct rng rng = {.state = 3};

	(void)state;
	for (unsigned i = 0; i < 400; i++) {
		struct blob good = make_wild_btf(&rng);

		for (unsigned k = 0; k < 5; k++) {
			struct blob b = mutate(&rng, &good);
			struct err err = {0};
			struct btf *btf = btf_parse(b.bytes, b.len, &err);

			if (btf)
				query_btf(btf);
			else
				check_refusal(&err);
			btf_free(btf);
			blob_free(&b);
		}
		blob_free(&good);
	}
}

static void test_instructions(void **state)
{
	struct insn_decoder *dec = insn_decoder_new();
	struct mem_access accesses[INSN_MAX_MEM];
	struct x86_regs regs = {0};
	struct rng rng = {.state = 4};

	(void)state;
	assert_non_null(dec);
	for (unsigned i = 0; i < 200000; i++) {
		size_t len = 1 + below(&rng, 16);
		uint8_t *code = malloc(len);
		struct insn insn;
		unsigned got;

		assert_non_null(code);
		for (size_t k = 0; k < len; k++)
			code[k] = (uint8_t)rng_next(&rng);
		got = insn_decode(dec, code, len, IMAGE_BASE, &insn);
		assert_true(got <= len && got <= INSN_MAX_LEN);
		if (got) {
			assert_true(insn.len == got && insn.nmem <= INSN_MAX_MEM);
			for (unsigned m = 0; m < insn.nmem; m++) {
				assert_true(insn.mem[m].size > 0 && insn.mem[m].rw > 0 && insn.mem[m].rw <= 3);
				assert_true(insn.mem[m].base < X86_GPRS && insn.mem[m].index < X86_GPRS);
			}
			for (unsigned r = 0; r < X86_GPRS; r++)
				regs.gpr[r] = rng_next(&rng);
			regs.rflags = rng_next(&rng);
			assert_true(insn_accesses(&insn, &regs, accesses) <= insn.nmem);
		}
		free(code);
	}
	insn_decoder_free(dec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_system_map), cmocka_unit_test(test_elf),		cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_btf),	   cmocka_unit_test(test_instructions),
	};

	return cmocka_run_group_tests_name("symbols: mutated inputs", tests, NULL, NULL);
}
