// SPDX-License-Identifier: GPL-2.0-or-later
/* Cores, read back with libelf. crash and drgn have opened such cores of a stock kernel in trials by hand. */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/replay/vmcore/vmcore.h"
#include "hv/vmm/layout.h"

#define LOW MIB(1)
#define HIGH MIB(2)
#define IMAGE_GPA 0x40000ull
#define IMAGE_LEN 0x20000ull
#define IMAGE_GVA 0xffffffff81000000ull
#define DIRECT_MAP 0xffff888000000000ull

struct rig {
	char folder[64], path[128];
	struct ram ram;
	struct replay_cpu cpus[2];
	int32_t pids[2];
	struct vmcore_kernel kernel;
	struct vmcore core;
};

static int setup(void **state)
{
	static const char info[] = "OSRELEASE=6.1.0\n";
	struct rig *r = calloc(1, sizeof(*r));

	strcpy(r->folder, "/tmp/outrider-vmcore-XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	snprintf(r->path, sizeof(r->path), "%s/core", r->folder);
	r->ram = (struct ram){.host = calloc(1, LOW + HIGH), .low = LOW, .high = HIGH};
	memset(r->ram.host + IMAGE_GPA, 0x5a, IMAGE_LEN);
	memcpy(r->ram.host + LOW + HIGH - 8, "the end", 8);
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned g = 0; g < X86_GPRS; g++)
			r->cpus[i].regs.gpr[g] = 0x100 * (i + 1) + g;
		r->cpus[i].regs.rip = 0xffffffff81000100ull + i;
		r->cpus[i].regs.cr3 = 0x1000 * (i + 1);
		r->cpus[i].regs.cs = 0x10;
		r->cpus[i].ds = 0x2b;
	}
	r->pids[0] = 85;
	r->pids[1] = -1;
	r->kernel = (struct vmcore_kernel){.info_len = strlen(info),
					   .direct_map = DIRECT_MAP,
					   .image = IMAGE_GVA,
					   .image_len = IMAGE_LEN,
					   .image_gpa = IMAGE_GPA};
	memcpy(r->kernel.info, info, strlen(info));
	r->core = (struct vmcore){.ram = &r->ram, .cpus = r->cpus, .count = 2, .pids = r->pids, .kernel = &r->kernel};
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	unlink(r->path);
	assert_int_equal(rmdir(r->folder), 0); /* The test has left no other file in it. */
	free(r->ram.host);
	free(r);
	return 0;
}

static Elf *open_core(const struct rig *r, int *fd)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	*fd = open(r->path, O_RDONLY);
	assert_true(*fd >= 0);
	elf = elf_begin(*fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	return elf;
}

static void close_core(Elf *elf, int fd)
{
	elf_end(elf);
	close(fd);
}

static void expect_bytes(int fd, const GElf_Phdr *at, uint64_t skip, const void *bytes, size_t len)
{
	char got[64];

	assert_true(len <= sizeof(got));
	assert_int_equal(pread(fd, got, len, (off_t)(at->p_offset + skip)), len);
	assert_memory_equal(got, bytes, len);
}

static void expect_segment(const GElf_Phdr *p, uint64_t gva, uint64_t gpa, uint64_t len)
{
	assert_int_equal(p->p_type, PT_LOAD);
	assert_int_equal(p->p_vaddr, gva);
	assert_int_equal(p->p_paddr, gpa);
	assert_int_equal(p->p_filesz, len);
	assert_int_equal(p->p_memsz, len);
}

static void ranges_of_ram_are_segments_by_their_gpa(void **state)
{
	struct rig *r = *state;
	struct err err = {0};
	GElf_Phdr p[4];
	GElf_Ehdr header;
	Elf *elf;
	int fd;

	assert_int_equal(vmcore_write(&r->core, r->path, &err), 0);
	elf = open_core(r, &fd);
	assert_non_null(gelf_getehdr(elf, &header));
	assert_int_equal(header.e_type, ET_CORE);
	assert_int_equal(header.e_machine, EM_X86_64);
	assert_int_equal(header.e_phnum, 4);
	for (int i = 0; i < 4; i++)
		assert_non_null(gelf_getphdr(elf, i, &p[i]));
	assert_int_equal(p[0].p_type, PT_NOTE);
	expect_segment(&p[1], IMAGE_GVA, IMAGE_GPA, IMAGE_LEN);
	expect_segment(&p[2], DIRECT_MAP, 0, LOW);
	expect_segment(&p[3], DIRECT_MAP + RAM_HOLE_END, RAM_HOLE_END, HIGH);
	expect_bytes(fd, &p[1], 0, "ZZZZ", 4);
	expect_bytes(fd, &p[2], IMAGE_GPA + IMAGE_LEN - 2, "ZZ\0", 3);
	expect_bytes(fd, &p[3], HIGH - 8, "the end", 8);
	close_core(elf, fd);
}

static void pages_of_zeros_take_no_space(void **state)
{
	struct rig *r = *state;
	struct err err = {0};
	struct stat st;

	assert_int_equal(vmcore_write(&r->core, r->path, &err), 0);
	assert_int_equal(stat(r->path, &st), 0);
	assert_true((uint64_t)st.st_size > LOW + HIGH);
	assert_true((uint64_t)st.st_blocks * 512 < MIB(1));
}

/* Find the n-th note, from 0, of this owner and type. Returns its content, or NULL. */
static const uint8_t *note(const uint8_t *notes, size_t len, const char *owner, unsigned type, unsigned n, size_t *desc)
{
	for (size_t at = 0; at < len;) {
		const Elf64_Nhdr *h = (const void *)(notes + at);
		const char *name = (const char *)(h + 1);
		const uint8_t *bytes = notes + at + sizeof(*h) + ((h->n_namesz + 3) & ~3u);

		if (h->n_type == type && strcmp(name, owner) == 0 && n-- == 0) {
			*desc = h->n_descsz;
			return bytes;
		}
		at = (size_t)(bytes - notes) + ((h->n_descsz + 3) & ~3u);
	}
	return NULL;
}

static void each_cpu_has_its_registers(void **state)
{
	struct rig *r = *state;
	struct err err = {0};
	uint8_t notes[8192];
	struct elf_prstatus status;
	struct user_regs_struct regs;
	uint64_t cr[5];
	const uint8_t *found;
	GElf_Phdr p;
	size_t desc;
	Elf *elf;
	int fd;

	assert_int_equal(vmcore_write(&r->core, r->path, &err), 0);
	elf = open_core(r, &fd);
	assert_non_null(gelf_getphdr(elf, 0, &p));
	assert_true(p.p_filesz <= sizeof(notes));
	assert_int_equal(pread(fd, notes, p.p_filesz, (off_t)p.p_offset), p.p_filesz);
	for (unsigned i = 0; i < 2; i++) {
		found = note(notes, p.p_filesz, "CORE", NT_PRSTATUS, i, &desc);
		assert_non_null(found);
		assert_int_equal(desc, sizeof(status));
		memcpy(&status, found, sizeof(status));
		memcpy(&regs, &status.pr_reg, sizeof(regs));
		assert_true(i == 0 ? status.pr_pid == 85 : status.pr_pid > 4 << 20);
		assert_int_equal(regs.rax, r->cpus[i].regs.gpr[X86_RAX]);
		assert_int_equal(regs.rsp, r->cpus[i].regs.gpr[X86_RSP]);
		assert_int_equal(regs.r15, r->cpus[i].regs.gpr[X86_R15]);
		assert_int_equal(regs.rip, r->cpus[i].regs.rip);
		assert_int_equal(regs.ds, 0x2b);
		found = note(notes, p.p_filesz, "QEMU", 0, i, &desc);
		assert_non_null(found);
		memcpy(cr, found + desc - 48, sizeof(cr));
		assert_int_equal(cr[3], r->cpus[i].regs.cr3);
	}
	assert_null(note(notes, p.p_filesz, "CORE", NT_PRSTATUS, 2, &desc));
	found = note(notes, p.p_filesz, "VMCOREINFO", 0, 0, &desc);
	assert_non_null(found);
	assert_int_equal(desc, r->kernel.info_len);
	assert_memory_equal(found, r->kernel.info, desc);
	close_core(elf, fd);
}

static void an_image_outside_of_ram_is_left_out(void **state)
{
	struct rig *r = *state;
	struct err err = {0};
	GElf_Ehdr header;
	Elf *elf;
	int fd;

	r->kernel.image_gpa = LOW - IMAGE_LEN + X86_PAGE_SIZE;
	assert_int_equal(vmcore_write(&r->core, r->path, &err), 0);
	elf = open_core(r, &fd);
	assert_non_null(gelf_getehdr(elf, &header));
	assert_int_equal(header.e_phnum, 3);
	close_core(elf, fd);
}

static void a_full_disk_leaves_nothing_behind(void **state)
{
	struct rig *r = *state;
	const struct rlimit little = {.rlim_cur = KIB(64), .rlim_max = RLIM_INFINITY};
	struct rlimit before;
	struct err err = {0};
	int rc;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	rc = vmcore_write(&r->core, r->path, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(rc, -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, r->path));
	assert_int_equal(access(r->path, F_OK), -1);
}

/* ---- the kernel's own VMCOREINFO ---- */

#define WORLD 0xffffffff82000000ull

static int read_world(void *ctx, uint64_t gva, void *buf, size_t len)
{
	if (gva < WORLD || gva - WORLD > 65536 || len > 65536 - (gva - WORLD))
		return -1;
	memcpy(buf, (uint8_t *)ctx + (gva - WORLD), len);
	return 0;
}

static struct symtab *world_symbols(const struct rig *r)
{
	static const char map[] = "ffffffff81000000 T _text\n"
				  "ffffffff82000000 D vmcoreinfo_data\n"
				  "ffffffff82000008 D vmcoreinfo_size\n"
				  "ffffffff82000010 D page_offset_base\n"
				  "ffffffff82000018 D phys_base\n"
				  "ffffffff83000000 B _end\n";
	struct err err = {0};
	struct symtab *st;
	FILE *file = fopen(r->path, "w");

	assert_non_null(file);
	fputs(map, file);
	fclose(file);
	st = symtab_load(r->path, &err);
	assert_non_null(st);
	return st;
}

static void the_kernel_says_where_it_is(void **state)
{
	static const char info[] = "OSRELEASE=6.1.0\nPAGESIZE=4096\n";
	static uint8_t world[65536];
	uint64_t words[] = {WORLD + 0x1000, strlen(info), DIRECT_MAP, 0x7000000};
	struct guest_reader reader = {.read = read_world, .ctx = world};
	struct rig *r = *state;
	struct symtab *st = world_symbols(r);
	struct vmcore_kernel kernel;
	struct err err = {0};

	memcpy(world, words, sizeof(words));
	memcpy(world + 0x1000, info, strlen(info));
	assert_int_equal(vmcore_kernel_read(&kernel, &reader, st, &err), 0);
	assert_int_equal(kernel.info_len, strlen(info));
	assert_memory_equal(kernel.info, info, strlen(info));
	assert_int_equal(kernel.direct_map, DIRECT_MAP);
	assert_int_equal(kernel.image, 0xffffffff81000000ull);
	assert_int_equal(kernel.image_len, 0x2000000);
	assert_int_equal(kernel.image_gpa, 0x8000000);
	symtab_free(st);
}

static void hostile_sizes_and_pointers_are_refused(void **state)
{
	static uint8_t world[65536];
	static const uint64_t bad[][2] = {
		{WORLD + 0x1000, 0},
		{WORLD + 0x1000, VMCOREINFO_MAX + 1},
		{WORLD + 0x1000, UINT64_MAX},
		{WORLD + 65536, 100},
		{0, 100},
		{UINT64_MAX - 10, 100},
		{WORLD + 0x1000, 100} /* with a NUL in it */,
	};
	struct guest_reader reader = {.read = read_world, .ctx = world};
	struct rig *r = *state;
	struct symtab *st = world_symbols(r);
	struct vmcore_kernel kernel;

	memcpy(world + 0x1000, "OSRELEASE=", 10);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err err = {0};

		memcpy(world, bad[i], sizeof(bad[i]));
		assert_int_equal(vmcore_kernel_read(&kernel, &reader, st, &err), -1);
		assert_int_equal(err.code, EXIT_INPUT);
		assert_int_equal(kernel.info_len, 0);
	}
	symtab_free(st);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ranges_of_ram_are_segments_by_their_gpa, setup, teardown),
		cmocka_unit_test_setup_teardown(pages_of_zeros_take_no_space, setup, teardown),
		cmocka_unit_test_setup_teardown(each_cpu_has_its_registers, setup, teardown),
		cmocka_unit_test_setup_teardown(an_image_outside_of_ram_is_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing_behind, setup, teardown),
		cmocka_unit_test_setup_teardown(the_kernel_says_where_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile_sizes_and_pointers_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
