/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding a Linux kernel from outside with a System.map: where it is, whether the map fits it, and when its text is final. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/guest/guest.h"
#include "tests/unit/target/fake_target.h"
#include "tests/unit/symbols/kallsyms_maker.h"

#define LINKED 0xffffffff81000000ull
#define SLIDE 0x4600000ull
#define IMAGE (LINKED + SLIDE)
#define IMAGE_GPA 0x400000ull
#define IMAGE_SIZE 0x200000ull
#define IDT_FINAL 0xfffffe0000000000ull
#define IDT_GPA 0x600000ull
#define EFER_LMA (1ull << 10)

/* Offsets in the image. */
#define DIVIDE 0x1000u
#define INT3 0x1010u
#define INVALID 0x1020u
#define PAGE_FAULT 0x1030u
#define BANNER 0x2000u
#define STATE 0x3000u
#define TOP_TABLE 0x4000u
#define FUNCTION 0x1040u
#define NOTES 0x5f00u
#define KALLSYMS 0x10000u

static const char map[] = "ffffffff81000000 T _text\n"
			  "ffffffff81000000 T _stext\n"
			  "ffffffff81001000 T asm_exc_divide_error\n"
			  "ffffffff81001010 T asm_exc_int3\n"
			  "ffffffff81001020 T asm_exc_invalid_op\n"
			  "ffffffff81001030 T asm_exc_page_fault\n"
			  "ffffffff81001040 T vfs_read\n"
			  "ffffffff81001100 T _etext\n"
			  "ffffffff81002000 R linux_banner\n"
			  "ffffffff81003000 D system_state\n"
			  "ffffffff81004000 D init_top_pgt\n"
			  "ffffffff81005f00 R __start_notes\n"
			  "ffffffff81005f24 R __stop_notes\n";

static const char banner[] = "Linux version 6.1.0-9-test (someone@somewhere) #1 SMP\n";

struct boot {
	struct fake_target *ft;
	struct guest *g;
	struct err err;
	char path[64];
	unsigned asked; /* number of queries for a file by build id */
};

static void set_gate(struct boot *b, unsigned vector, uint64_t handler)
{
	const uint16_t gate[8] = {(uint16_t)handler,	    0x10, 0x8e00, (uint16_t)(handler >> 16), (uint16_t)(handler >> 32),
				  (uint16_t)(handler >> 48)};

	fake_write(b->ft, IDT_GPA + vector * sizeof(gate), gate, sizeof(gate));
}

static void set_state(struct boot *b, uint32_t state)
{
	fake_write(b->ft, IMAGE_GPA + STATE, &state, sizeof(state));
}

/* Make a machine whose CPU 0 runs a kernel that has booted. */
static void boot(struct boot *b)
{
	struct x86_regs *regs = &b->ft->peek[0];
	const uint64_t cr3s[] = {IMAGE_GPA + TOP_TABLE, fake_page(b->ft)};

	/* The kernel's own page tables, and the page tables of the running task. */
	for (unsigned i = 0; i < 2; i++) {
		fake_map(b->ft, cr3s[i], 4, IMAGE, IMAGE_GPA, IMAGE_SIZE, 21);
		fake_map(b->ft, cr3s[i], 4, IDT_FINAL, IDT_GPA, X86_PAGE_SIZE, 12);
	}
	set_gate(b, 0, IMAGE + DIVIDE);
	set_gate(b, 3, IMAGE + INT3);
	set_gate(b, 6, IMAGE + INVALID);
	set_gate(b, 14, IMAGE + PAGE_FAULT);
	fake_write(b->ft, IMAGE_GPA + BANNER, banner, sizeof(banner));
	set_state(b, 3);
	*regs = (struct x86_regs){.cr3 = cr3s[1], .efer = EFER_LMA, .idt_base = IDT_FINAL};
}

static void save(struct boot *b, const char *symbols)
{
	int fd;

	strcpy(b->path, "/tmp/outrider-test-map-XXXXXX");
	fd = mkstemp(b->path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, symbols, strlen(symbols)), strlen(symbols));
	close(fd);
}

static void load(struct boot *b, const char *symbols)
{
	save(b, symbols);
	b->g = guest_new(&b->ft->target, b->path, NULL, &b->err);
	unlink(b->path);
	assert_non_null(b->g);
}

static int setup(void **state)
{
	struct boot *b = calloc(1, sizeof(*b));

	*state = b;
	if (!b)
		return -1;
	b->ft = fake_target_new(1, 4);
	if (!b->ft)
		return -1;
	boot(b);
	return 0;
}

static int teardown(void **state)
{
	struct boot *b = *state;

	guest_free(b->g);
	fake_target_free(b->ft);
	free(b);
	return 0;
}

/*
 * Poll until there is a result, at most ten times. The boot's memory has no kallsyms tables to compare a file with, and only
 * after ten polls that could not read them is the file judged without.
 */
static int poll_ten(struct boot *b)
{
	int found = 0;

	for (unsigned i = 0; i < 10 && !found; i++)
		found = guest_poll(b->g, &b->err);
	return found;
}

/* What cannot be read in one poll is no error: the page tables may be those of a process that has just ended. */
static void expect_wrong(struct boot *b)
{
	assert_int_equal(guest_poll(b->g, &b->err), 0);
	assert_int_equal(poll_ten(b), -1);
	assert_int_equal(b->err.code, EXIT_INPUT);
	assert_non_null(strstr(b->err.text, b->path));
	assert_null(strchr(b->err.text, '\n'));
}

static void test_found(void **state)
{
	struct boot *b = *state;
	static const uint8_t zeroes[X86_PAGE_SIZE];
	struct symbol symbol;
	uint64_t gpa;
	char text[8];

	load(b, map);
	assert_string_equal(guest_banner(b->g), "");
	assert_int_equal(guest_progress(b->g), GUEST_SEARCHED);
	set_state(b, 1); /* SYSTEM_SCHEDULING: the kernel is found, but not ready */
	assert_int_equal(poll_ten(b), 0);
	assert_int_equal(guest_progress(b->g), GUEST_BOOTING);
	assert_int_equal(guest_poll(b->g, &b->err), 0);
	set_state(b, 3);
	assert_int_equal(guest_poll(b->g, &b->err), 1);
	assert_int_equal(guest_poll(b->g, &b->err), 1);
	assert_int_equal(guest_progress(b->g), GUEST_READY);

	assert_int_equal(guest_slide(b->g), SLIDE);
	assert_string_equal(guest_banner(b->g), "Linux version 6.1.0-9-test (someone@somewhere) #1 SMP");
	assert_string_equal(guest_symbol_source(b->g), b->path);
	assert_int_equal(symtab_find(guest_symtab(b->g), "system_state", &symbol), 0);
	assert_int_equal(symbol.addr, IMAGE + STATE);

	/* Reads go through the kernel's own page tables, because the task through whose tables it was found may have ended. */
	fake_write(b->ft, b->ft->peek[0].cr3, zeroes, sizeof(zeroes));
	assert_int_equal(guest_read(b->g, IMAGE + BANNER, text, 5), 0);
	assert_memory_equal(text, "Linux", 5);
	assert_int_equal(guest_translate(b->g, IMAGE + 0x123, &gpa), 0);
	assert_int_equal(gpa, IMAGE_GPA + 0x123);
}

static void test_names(void **state)
{
	struct boot *b = *state;
	struct guest_symbol symbol;

	load(b, map);
	assert_int_equal(poll_ten(b), 1);
	assert_int_equal(guest_symbol_at(b->g, IMAGE + INT3 + 5, &symbol), 0);
	assert_string_equal(symbol.name, "asm_exc_int3");
	assert_string_equal(symbol.module, "");
	assert_int_equal(symbol.addr, IMAGE + INT3);
	assert_int_equal(symbol.size, INVALID - INT3);
	assert_int_equal(guest_symbol_at(b->g, IMAGE - 1, &symbol), -1);
	assert_int_equal(guest_symbol_at(b->g, LINKED + INT3, &symbol), -1); /* the link address, which KASLR has moved */
}

/*
 * In firmware, the decompressor, the early kernel, or user mode with its own page tables, the search goes on without an error.
 */
static void test_not_yet(void **state)
{
	struct boot *b = *state;
	struct x86_regs *regs = &b->ft->peek[0], up = *regs;

	load(b, map);
	regs->efer = 0;
	assert_int_equal(guest_poll(b->g, &b->err), 0);
	*regs = up;
	regs->idt_base = 0x1000;
	assert_int_equal(guest_poll(b->g, &b->err), 0);
	*regs = up;
	regs->cr3 = fake_page(b->ft); /* nothing is mapped there */
	assert_int_equal(guest_poll(b->g, &b->err), 0);
	regs->cr3 = ~0ull;
	assert_int_equal(guest_poll(b->g, &b->err), 0);
	assert_int_equal(guest_progress(b->g), GUEST_SEARCHED);
	*regs = up;
	set_gate(b, 3, 0);
	assert_int_equal(guest_poll(b->g, &b->err), 0);
	set_gate(b, 3, IMAGE + INT3);
	assert_int_equal(poll_ten(b), 1);
	assert_int_equal(b->err.code, EXIT_OK);
}

/* An early IDT has other handlers. Only the final IDT can contradict the symbols. */
static void test_early_idt(void **state)
{
	struct boot *b = *state;

	load(b, map);
	fake_map(b->ft, b->ft->peek[0].cr3, 4, 0xffffffffa0000000ull, IDT_GPA, X86_PAGE_SIZE, 12);
	b->ft->peek[0].idt_base = 0xffffffffa0000000ull;
	set_gate(b, 3, IMAGE + INT3 + 0x40);
	assert_int_equal(guest_poll(b->g, &b->err), 0);
	set_gate(b, 3, IMAGE + INT3);
	set_gate(b, 14, IMAGE + INVALID);
	assert_int_equal(guest_poll(b->g, &b->err), 0);
	assert_int_equal(b->err.code, EXIT_OK);
}

static void test_other_kernel_by_slide(void **state)
{
	struct boot *b = *state;

	load(b, map);
	set_gate(b, 3, IMAGE + INT3 + 0x40);
	expect_wrong(b);
}

static void test_other_kernel_by_gates(void **state)
{
	struct boot *b = *state;

	load(b, map);
	set_gate(b, 6, IMAGE + INVALID + 0x10);
	expect_wrong(b);
	assert_non_null(strstr(b->err.text, "6.1.0-9-test")); /* the message names the version that the guest runs */
}

static void test_other_kernel_by_banner(void **state)
{
	struct boot *b = *state;

	load(b, map);
	fake_write(b->ft, IMAGE_GPA + BANNER, "FreeBSD", 7);
	expect_wrong(b);
}

/* Write the guest's own kallsyms. In them vfs_read is `moved` bytes above its address in the map. */
static void put_kallsyms(struct boot *b, uint64_t moved)
{
	/*
	 * In the newest layout an offset is relative to its own place. The maker puts the tables at the image's start, so
	 * subtract.
	 */
	const struct made_layout *layout = &made_layouts[sizeof(made_layouts) / sizeof(*made_layouts) - 1];
	struct symbol symbols[] = {
		{.addr = LINKED, .type = 'T', .name = "_text"},
		{.addr = LINKED + DIVIDE, .type = 'T', .name = "asm_exc_divide_error"},
		{.addr = LINKED + INT3, .type = 'T', .name = "asm_exc_int3"},
		{.addr = LINKED + INVALID, .type = 'T', .name = "asm_exc_invalid_op"},
		{.addr = LINKED + PAGE_FAULT, .type = 'T', .name = "asm_exc_page_fault"},
		{.addr = LINKED + FUNCTION + moved, .type = 'T', .name = "vfs_read"},
		{.addr = LINKED + BANNER, .type = 'R', .name = "linux_banner"},
		{.addr = LINKED + STATE, .type = 'D', .name = "system_state"},
		{.addr = LINKED + TOP_TABLE, .type = 'D', .name = "init_top_pgt"},
	};
	const uint32_t n = sizeof(symbols) / sizeof(*symbols);
	struct blob image = {0};

	assert_int_equal(layout->encoding, MADE_SELF);
	for (uint32_t i = 0; i < n; i++)
		symbols[i].addr -= KALLSYMS;
	made_image(&image, layout, symbols, n);
	fake_write(b->ft, IMAGE_GPA + KALLSYMS, image.bytes, image.len);
	blob_free(&image);
}

static void test_own_tables_agree(void **state)
{
	struct boot *b = *state;

	load(b, map);
	put_kallsyms(b, 0);
	assert_int_equal(guest_poll(b->g, &b->err), 1);
}

/*
 * In a similar build, entry code and banner may be at their addresses in the map, and all other functions at other addresses.
 */
static void test_other_build_by_functions(void **state)
{
	struct boot *b = *state;

	load(b, map);
	put_kallsyms(b, 0x40);
	assert_int_equal(guest_poll(b->g, &b->err), 1);
	assert_non_null(strstr(guest_symbols_refused(b->g), b->path));
	assert_non_null(strstr(guest_symbols_refused(b->g), "another kernel"));
	assert_string_equal(guest_symbol_source(b->g), GUEST_OWN_TABLES);
	assert_int_equal(symtab_addr(guest_symtab(b->g), "vfs_read"), IMAGE + FUNCTION + 0x40);
}

/* With a wrong slide or a wrong map, the page of the banner may not be mapped. */
static void test_banner_nowhere(void **state)
{
	struct boot *b = *state;
	char *elsewhere = strdup(map);

	assert_non_null(elsewhere);
	memcpy(strstr(elsewhere, "ffffffff81002000"), "ffffffffa1002000", 16);
	load(b, elsewhere);
	free(elsewhere);
	put_kallsyms(b, 0);
	b->ft->peek[0].cs = 0x33; /* user mode: with page-table isolation nothing of the kernel is mapped */
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(guest_poll(b->g, &b->err), 0);
	b->ft->peek[0].cs = 0x10;
	for (unsigned i = 0; i < 100 && !guest_symbols_refused(b->g); i++)
		guest_poll(b->g, &b->err);
	assert_string_equal(b->err.text, "");
	assert_non_null(strstr(guest_symbols_refused(b->g), "6.1.0-9-test"));
}

static void test_no_banner_symbol(void **state)
{
	struct boot *b = *state;

	load(b, "ffffffff81000000 T _text\nffffffff81001010 T asm_exc_int3\n");
	expect_wrong(b);
}

static void test_below_its_link_address(void **state)
{
	struct boot *b = *state;

	load(b, map);
	set_gate(b, 3, 0xffffffff80001010ull);
	expect_wrong(b);
}

static void test_no_gate_symbol(void **state)
{
	struct boot *b = *state;

	load(b, "ffffffff81000000 T _text\nffffffff81002000 R linux_banner\n");
	expect_wrong(b);
}

static void test_no_page_tables(void **state)
{
	struct boot *b = *state;
	char *without = strdup(map);

	assert_non_null(without);
	*strstr(without, "ffffffff81004000") = 0;
	load(b, without);
	free(without);
	expect_wrong(b);
}

/* A banner may have no terminating NUL, or end where the mapped memory ends. */
static void test_endless_banner(void **state)
{
	struct boot *b = *state;
	char endless[512];

	load(b, map);
	memset(endless, 'x', sizeof(endless));
	memcpy(endless, "Linux version ", 14);
	fake_write(b->ft, IMAGE_GPA + BANNER, endless, sizeof(endless));
	assert_int_equal(poll_ten(b), 1);
	assert_int_equal(strlen(guest_banner(b->g)), 255);
}

/* ---- tables that cannot be read ---- */

static const uint8_t build_id[20] = {0xde, 0xad, 0xbe, 0xef};

static void put_build_id(struct boot *b)
{
	uint8_t note[16 + sizeof(build_id)] = "\4\0\0\0\24\0\0\0\3\0\0\0GNU";

	memcpy(note + 16, build_id, sizeof(build_id));
	fake_write(b->ft, IMAGE_GPA + NOTES, note, sizeof(note));
}

static const char *find_file(void *ctx, const uint8_t *id, size_t len)
{
	struct boot *b = ctx;

	b->asked++;
	assert_int_equal(len, sizeof(build_id));
	assert_memory_equal(id, build_id, len);
	return b->path[0] ? b->path : NULL;
}

static void load_without_tables(struct boot *b)
{
	const struct guest_symbol_files files = {.find = find_file, .ctx = b};

	b->g = guest_new(&b->ft->target, NULL, &files, &b->err);
	assert_non_null(b->g);
}

static void poll_to_the_end(struct boot *b, int expected)
{
	int ready = 0;

	for (unsigned i = 0; i < 10000 && !ready; i++)
		ready = guest_poll(b->g, &b->err);
	assert_int_equal(ready, expected);
}

static void test_file_in_place_of_tables(void **state)
{
	struct boot *b = *state;
	const uint8_t *id;

	put_build_id(b);
	save(b, map);
	load_without_tables(b);
	poll_to_the_end(b, 1);
	assert_string_equal(guest_symbol_source(b->g), b->path);
	assert_non_null(strstr(guest_symbols_refused(b->g), "kallsyms"));
	assert_int_equal(guest_slide(b->g), SLIDE);
	assert_int_equal(guest_build_id(b->g, &id), sizeof(build_id));
	assert_memory_equal(id, build_id, sizeof(build_id));
	unlink(b->path);
}

static void test_neither_tables_nor_file(void **state)
{
	struct boot *b = *state;

	put_build_id(b);
	load_without_tables(b);
	poll_to_the_end(b, -1);
	assert_int_equal(b->err.code, EXIT_INPUT);
	assert_int_equal(b->asked, 1);
}

/* The guest has no build id either, by which a file could be found. */
static void test_nothing_to_go_by(void **state)
{
	struct boot *b = *state;

	load_without_tables(b);
	poll_to_the_end(b, -1);
	assert_int_equal(b->err.code, EXIT_INPUT);
	assert_int_equal(b->asked, 0);
}

static void test_no_such_file(void **state)
{
	struct boot *b = *state;

	assert_null(guest_new(&b->ft->target, "/nonexistent/System.map", NULL, &b->err));
	assert_int_equal(b->err.code, EXIT_INPUT);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_found),
		T(test_names),
		T(test_not_yet),
		T(test_early_idt),
		T(test_other_kernel_by_slide),
		T(test_other_kernel_by_gates),
		T(test_other_kernel_by_banner),
		T(test_own_tables_agree),
		T(test_other_build_by_functions),
		T(test_banner_nowhere),
		T(test_no_banner_symbol),
		T(test_below_its_link_address),
		T(test_no_gate_symbol),
		T(test_no_page_tables),
		T(test_endless_banner),
		T(test_file_in_place_of_tables),
		T(test_neither_tables_nor_file),
		T(test_nothing_to_go_by),
		T(test_no_such_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
