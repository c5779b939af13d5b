/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug files are found in all places where packages and users put them, and no other file is taken for one. */
#include "tests/unit/symbols/dwarf_sample.h"

#include <ftw.h>
#include <sys/stat.h>

#include "symbols/files/debugfiles.h"

/* The group's fixture: all tests copy these samples into their folders, because compiling takes longest. */
struct fixture {
	struct sample kernel, module;
	const uint8_t *id; /* Build id of the kernel, of `len` bytes. */
	size_t len;
	char hex[64];  /* The build id as text. */
	char root[32]; /* The folder of the test that runs, which begins empty. */
};

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int build_samples(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	sample_build(&f->kernel, "gcc", "-gdwarf-5 " SAMPLE_LINKED);
	sample_build(&f->module, "gcc", "-gdwarf-5 -c ");
	f->len = sample_build_id(&f->kernel, &f->id);
	assert_int_equal(f->len, 20);
	for (size_t i = 0; i < f->len; i++)
		snprintf(f->hex + 2 * i, 3, "%02x", f->id[i]);
	*state = f;
	return 0;
}

static int free_samples(void **state)
{
	struct fixture *f = *state;

	sample_free(&f->kernel);
	sample_free(&f->module);
	free(f);
	return 0;
}

static int setup(void **state)
{
	struct fixture *f = *state;

	strcpy(f->root, "/tmp/debugfiles-XXXXXX");
	return mkdtemp(f->root) ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	return nftw(f->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Copy a sample to ROOT/PATH, and make the folders that this needs. The whole path is put into `out`. */
static void put_sample(struct fixture *f, const struct sample *s, const char *path, char *out, size_t size)
{
	FILE *file;

	snprintf(out, size, "%s/%s", f->root, path);
	for (char *slash = strchr(out + strlen(f->root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(out, 0755);
		*slash = '/';
	}
	file = fopen(out, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(s->bytes, 1, s->len, file), s->len);
	fclose(file);
}

static const char *find_file(struct fixture *f, const char *name, bool with_id, struct debugfiles **df, struct err *err)
{
	*df = debugfiles_new(NULL);
	assert_non_null(*df);
	assert_int_equal(debugfiles_add(*df, f->root, NULL), 0);
	return debugfiles_find(*df, name, f->id, with_id ? f->len : 0, err);
}

static void expect_found(struct fixture *f, const char *name, bool with_id, const char *path)
{
	struct debugfiles *df;
	struct err err = {0};
	const char *found = find_file(f, name, with_id, &df, &err);

	if (!found)
		fail_msg("%s", err.text);
	assert_string_equal(found, path);
	debugfiles_free(df);
}

static void expect_missing(struct fixture *f, const char *name, bool with_id, const char *why)
{
	struct debugfiles *df;
	struct err err = {0};

	assert_null(find_file(f, name, with_id, &df, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, why));
	debugfiles_free(df);
}

/* ---- a folder as a package fills it ---- */

#define KERNEL_PATH "boot/vmlinux-6.1.0-56-cloud-amd64"
#define MODULE_PATH "lib/modules/6.1.0/kernel/net/nf-tables.ko.debug"

struct package {
	char kernel[128], module[128];
};

static struct package put_package(struct fixture *f)
{
	struct package p;

	put_sample(f, &f->module, "vmlinux.o", p.kernel,
		   sizeof(p.kernel)); /* a file of a build tree, which is not the kernel */
	put_sample(f, &f->kernel, KERNEL_PATH, p.kernel, sizeof(p.kernel));
	put_sample(f, &f->module, MODULE_PATH, p.module, sizeof(p.module));
	return p;
}

static void test_kernel_by_name_and_build_id(void **state)
{
	struct fixture *f = *state;
	struct package p = put_package(f);

	expect_found(f, "vmlinux", true, p.kernel);
}

static void test_kernel_by_name(void **state)
{
	struct fixture *f = *state;
	struct package p = put_package(f);

	expect_found(f, "vmlinux", false, p.kernel);
}

static void test_module_by_name(void **state)
{
	struct fixture *f = *state;
	struct package p = put_package(f);

	expect_found(f, "nf_tables", false, p.module);
}

static void test_module_by_the_beginning_of_its_name(void **state)
{
	struct fixture *f = *state;

	put_package(f);
	expect_missing(f, "nf", false, "no debug file for nf ");
}

static void test_module_of_another_build(void **state)
{
	struct fixture *f = *state;

	put_package(f);
	expect_missing(f, "nf_tables", true, "nf-tables.ko.debug: of another build than the nf_tables in use");
}

/* ---- a folder with build ids for names ---- */

static void put_by_build_id(struct fixture *f, const char *format, char path[128])
{
	char name[128];

	snprintf(name, sizeof(name), format, f->hex, f->hex + 2);
	put_sample(f, &f->kernel, name, path, 128);
}

static void test_empty_folder(void **state)
{
	expect_missing(*state, "vmlinux", true, "no debug file for vmlinux");
}

static void test_file_named_by_build_id(void **state)
{
	struct fixture *f = *state;
	char path[128];

	put_by_build_id(f, ".build-id/%.2s/%s.debug", path);
	expect_found(f, "vmlinux", true, path);
}

static void test_file_named_by_build_id_when_that_is_not_known(void **state)
{
	struct fixture *f = *state;
	char path[128];

	put_by_build_id(f, ".build-id/%.2s/%s.debug", path);
	expect_missing(f, "vmlinux", false, "build id not known");
}

static void test_folder_named_by_build_id(void **state)
{
	struct fixture *f = *state;
	char path[128];

	put_by_build_id(f, "%s/debuginfo", path);
	expect_found(f, "vmlinux", true, path);
}

/* ---- a file that the user has named is never skipped without a message, whatever its name is ---- */

static const uint8_t other_id[20] = {1};

/* Make debug files of one file, which has a sample's bytes. */
static struct debugfiles *add_file(struct fixture *f, const struct sample *s, const char *name, char path[128])
{
	struct debugfiles *df = debugfiles_new(NULL);

	assert_non_null(df);
	put_sample(f, s, name, path, 128);
	assert_int_equal(debugfiles_add(df, path, NULL), 0);
	return df;
}

static void expect_file(struct fixture *f, const char *name)
{
	char path[128];
	struct debugfiles *df = add_file(f, &f->kernel, name, path);

	assert_string_equal(debugfiles_find(df, "vmlinux", f->id, f->len, NULL), path);
	debugfiles_free(df);
}

/* Check that debugfiles_find() finds no file for `image` with this build id, and says why. `id` NULL: the build id is not
 * known. */
static void expect_no_file(struct fixture *f, const char *name, const char *image, const uint8_t *id, const char *why)
{
	char path[128];
	struct debugfiles *df = add_file(f, &f->kernel, name, path);
	struct err err = {0};

	assert_null(debugfiles_find(df, image, id, id ? sizeof(other_id) : 0, &err));
	assert_non_null(strstr(err.text, why));
	debugfiles_free(df);
}

static void test_file_that_is_not_there(void **state)
{
	struct debugfiles *df = debugfiles_new(NULL);
	struct err err = {0};

	(void)state;
	assert_int_equal(debugfiles_add(df, "/nonexistent/vmlinux", &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	debugfiles_free(df);
}

static void test_file_of_the_kernels_name(void **state)
{
	expect_file(*state, "vmlinux");
}

static void test_file_of_the_kernels_name_and_another_build(void **state)
{
	expect_no_file(*state, "vmlinux", "vmlinux", other_id, "of another build");
}

static void test_file_of_the_kernels_name_is_no_modules(void **state)
{
	expect_no_file(*state, "vmlinux", "xfs", NULL, "no debug file for xfs");
}

static void test_file_of_any_name(void **state)
{
	expect_file(*state, "my.kolab/kernel.dbg");
}

static void test_file_of_any_name_and_another_build(void **state)
{
	expect_no_file(*state, "my.kolab/kernel.dbg", "vmlinux", other_id, "kernel.dbg: of another build");
}

static void test_file_of_any_name_is_no_modules(void **state)
{
	expect_no_file(*state, "my.kolab/kernel.dbg", "xfs", other_id, "no debug file for xfs");
}

static void test_file_of_any_name_when_the_build_id_is_not_known(void **state)
{
	expect_no_file(*state, "my.kolab/kernel.dbg", "vmlinux", NULL, "kernel.dbg: without a build id");
}

static void test_half_a_file(void **state)
{
	struct fixture *f = *state;
	struct sample half = f->kernel;
	struct err err = {0};
	struct debugfiles *df;
	char path[128];

	half.len /= 2;
	df = add_file(f, &half, "my.kolab/half.dbg", path);
	assert_null(debugfiles_find(df, "vmlinux", f->id, f->len, &err));
	assert_non_null(strstr(err.text, "half.dbg"));
	debugfiles_free(df);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_kernel_by_name_and_build_id),
		T(test_kernel_by_name),
		T(test_module_by_name),
		T(test_module_by_the_beginning_of_its_name),
		T(test_module_of_another_build),
		T(test_empty_folder),
		T(test_file_named_by_build_id),
		T(test_file_named_by_build_id_when_that_is_not_known),
		T(test_folder_named_by_build_id),
		T(test_file_that_is_not_there),
		T(test_file_of_the_kernels_name),
		T(test_file_of_the_kernels_name_and_another_build),
		T(test_file_of_the_kernels_name_is_no_modules),
		T(test_file_of_any_name),
		T(test_file_of_any_name_and_another_build),
		T(test_file_of_any_name_is_no_modules),
		T(test_file_of_any_name_when_the_build_id_is_not_known),
		T(test_half_a_file),
	};

	return cmocka_run_group_tests(tests, build_samples, free_samples);
}
