// SPDX-License-Identifier: GPL-2.0-or-later
/* The debug files of a guest's kernel and modules are found once and relocated to the run-time addresses. A missing one is
 * reported once. */
#include "tests/unit/symbols/dwarf_sample.h"

#include "symbols/files/debug_images.h"

#define MODULE 0xffffffffc0000000ull

struct fixture {
	struct debug_images *images;
	struct sample kernel, module;
	uint8_t id[32];
	size_t len;
	unsigned notes;
	char last[512];
};

static void note(void *ctx, const char *line)
{
	struct fixture *f = ctx;

	f->notes++;
	snprintf(f->last, sizeof(f->last), "%s", line);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct debug_images_sink sink = {.message = note, .ctx = f};
	const uint8_t *id;

	assert_non_null(f);
	sample_build(&f->kernel, "gcc", "-gdwarf-5 " SAMPLE_LINKED);
	sample_build(&f->module, "gcc", "-gdwarf-5 -c ");
	f->len = sample_build_id(&f->kernel, &id);
	assert_in_range(f->len, 1, sizeof(f->id));
	memcpy(f->id, id, f->len);
	f->images = debug_images_new(&sink, NULL);
	assert_non_null(f->images);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	debug_images_free(f->images);
	sample_free(&f->kernel);
	sample_free(&f->module);
	free(f);
	return 0;
}

static struct debug_image kernel_at(const struct fixture *f, uint64_t slide)
{
	return (struct debug_image){.name = DEBUG_IMAGE_KERNEL, .id = f->id, .id_len = f->len, .slide = slide};
}

static void expect_function(struct debuginfo *di, uint64_t pc, const char *name)
{
	struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES];
	int n = debuginfo_lines(di, pc, frames, NULL);

	assert_true(n > 0);
	assert_string_equal(frames[n - 1].function, name);
}

static void test_kernel_moves(void **state)
{
	struct fixture *f = *state;
	const uint64_t slides[] = {0, 0x1c00000, 0x400000};
	struct place p = sample_symbol(&f->kernel, "outermost");

	assert_int_equal(debug_images_add(f->images, f->kernel.path, NULL), 0);
	for (size_t i = 0; i < sizeof(slides) / sizeof(slides[0]); i++) {
		const struct debug_image image = kernel_at(f, slides[i]);
		struct debuginfo *di = debug_images_of(f->images, &image);

		assert_non_null(di);
		expect_function(di, p.addr + slides[i], "outermost");
	}
	assert_int_equal(f->notes, 0);
}

/* A module that was loaded again has its sections at the addresses of its new generation. */
static void test_module_moves(void **state)
{
	struct fixture *f = *state;
	struct place p = sample_symbol(&f->module, "outermost");
	char folder[] = "/tmp/debug-images-XXXXXX", path[64], command[256];

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/some-module.ko", folder);
	snprintf(command, sizeof(command), "cp %s %s", f->module.path, path);
	assert_int_equal(system(command), 0);
	assert_int_equal(debug_images_add(f->images, folder, NULL), 0);
	for (uint64_t generation = 1; generation < 4; generation++) {
		struct image_section section = {.addr = MODULE + generation * 0x10000};
		const struct debug_image image = {
			.name = "some_module", .generation = generation, .sections = &section, .nsections = 1};
		struct debuginfo *di;

		snprintf(section.name, sizeof(section.name), "%s", p.section);
		di = debug_images_of(f->images, &image);
		assert_non_null(di);
		expect_function(di, section.addr + p.offset, "outermost");
	}
	assert_int_equal(f->notes, 0);
	unlink(path);
	rmdir(folder);
}

static void test_complains_once(void **state)
{
	struct fixture *f = *state;
	struct debug_image image = kernel_at(f, 0);
	unsigned found, asked;

	f->id[0] ^= 1;
	assert_int_equal(debug_images_add(f->images, f->kernel.path, NULL), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_null(debug_images_of(f->images, &image));
	assert_int_equal(f->notes, 1);
	assert_non_null(strstr(f->last, "build id"));
	debug_images_used(f->images, &found, &asked);
	assert_int_equal(found, 0);
	assert_int_equal(asked, 1);
}

/* A user who has named no folder for debug files gets no message that none was found. */
static void test_silent_unless_asked(void **state)
{
	struct fixture *f = *state;
	struct debug_image image = kernel_at(f, 0);

	f->id[0] ^= 1;
	assert_null(debug_images_of(f->images, &image));
	assert_int_equal(f->notes, 0);
}

static void test_failed_query_is_said_once(void **state)
{
	struct fixture *f = *state;
	struct debug_image image = kernel_at(f, 0);
	struct err err = {0};

	assert_int_equal(debug_images_add(f->images, f->kernel.path, NULL), 0);
	assert_non_null(debug_images_of(f->images, &image));
	err_set(&err, EXIT_INPUT, "corrupt");
	debug_images_failed(f->images, &image, &err);
	debug_images_failed(f->images, &image, &err);
	assert_int_equal(f->notes, 1);
	assert_string_equal(f->last, "corrupt");
}

/* Write a file, let the user name it, and expect one line that says why the file is of no use. */
static void expect_of_no_use(struct fixture *f, const void *bytes, size_t len, const char *why)
{
	char path[] = "/tmp/debug-images-XXXXXX";
	int fd = mkstemp(path);

	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
	f->notes = 0;
	assert_int_equal(debug_images_add(f->images, path, NULL), 0);
	unlink(path);
	assert_int_equal(f->notes, 1);
	if (!strstr(f->last, path) || !strstr(f->last, why))
		fail_msg("\"%s\" does not say \"%s\"", f->last, why);
}

static void test_files_of_no_use(void **state)
{
	static const char text[] = "ffffffff81000000 T _text\nffffffff81000000 T startup_64\nffffffff81000110 T later\n";
	struct fixture *f = *state;
	const struct debug_image image = kernel_at(f, 0);

	/* This test is a program of its own, linked as any program is. */
	assert_int_equal(debug_images_add(f->images, "/proc/self/exe", NULL), 0);
	assert_int_equal(f->notes, 1);
	assert_string_equal(
		f->last,
		"/proc/self/exe: of no use: it is a program or library for user space, and neither a kernel (vmlinux) nor a "
		"kernel module");
	expect_of_no_use(f, text, sizeof(text) - 1, "not an ELF file");
	expect_of_no_use(f, "\x1f\x8b\x08\0", 4, "compressed by gzip: unpack it, for example by `zcat`");
	expect_of_no_use(f, f->kernel.bytes, f->kernel.len / 2, "is the file complete?");
	/* The kernel's own file is found all the same, and no file of no use is said to be a kernel of another build. */
	f->notes = 0;
	assert_int_equal(debug_images_add(f->images, f->kernel.path, NULL), 0);
	assert_non_null(debug_images_of(f->images, &image));
	assert_int_equal(f->notes, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_kernel_moves),
		TEST(test_module_moves),
		TEST(test_complains_once),
		TEST(test_silent_unless_asked),
		TEST(test_failed_query_is_said_once),
		TEST(test_files_of_no_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
