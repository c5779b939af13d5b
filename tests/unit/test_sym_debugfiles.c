/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug files are found in all the places that they may be in, and nothing is found where there is none. */
#include "tests/unit/dwarf_sample.h"

#include <ftw.h>
#include <sys/stat.h>

#include "symbols/files/debugfiles.h"

struct fixture {
	char root[32];
	struct sample kernel, module;
	const uint8_t *id; /* Build id of the kernel, of `len` bytes. */
	size_t len;
	char hex[64]; /* The build id as text. */
};

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	sample_build(&f->kernel, "gcc", "-gdwarf-5 " SAMPLE_LINKED);
	sample_build(&f->module, "gcc", "-gdwarf-5 -c ");
	f->len = sample_build_id(&f->kernel, &f->id);
	assert_int_equal(f->len, 20);
	for (size_t i = 0; i < f->len; i++)
		snprintf(f->hex + 2 * i, 3, "%02x", f->id[i]);
	strcpy(f->root, "/tmp/debugfiles-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	nftw(f->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	sample_free(&f->kernel);
	sample_free(&f->module);
	free(f);
	return 0;
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

static void test_package(void **state)
{
	struct fixture *f = *state;
	char path[128], module[128];

	put_sample(f, &f->module, "vmlinux.o", path, sizeof(path)); /* as a build tree has it, which is not the kernel */
	put_sample(f, &f->kernel, "boot/vmlinux-6.1.0-56-cloud-amd64", path, sizeof(path));
	put_sample(f, &f->module, "lib/modules/6.1.0/kernel/net/nf-tables.ko.debug", module, sizeof(module));
	expect_found(f, "vmlinux", true, path);
	expect_found(f, "vmlinux", false, path);
	expect_found(f, "nf_tables", false, module);
	expect_missing(f, "nf", false, "no debug file for nf ");
	expect_missing(f, "nf_tables", true, "nf-tables.ko.debug: of another build than the nf_tables in use");
}

static void test_build_id(void **state)
{
	struct fixture *f = *state;
	char path[128], name[128];

	expect_missing(f, "vmlinux", true, "no debug file for vmlinux");
	snprintf(name, sizeof(name), ".build-id/%.2s/%s.debug", f->hex, f->hex + 2);
	put_sample(f, &f->kernel, name, path, sizeof(path));
	expect_found(f, "vmlinux", true, path);
	expect_missing(f, "vmlinux", false, "build id not known");
	assert_int_equal(remove(path), 0);
	snprintf(name, sizeof(name), "%s/debuginfo", f->hex);
	put_sample(f, &f->kernel, name, path, sizeof(path));
	expect_found(f, "vmlinux", true, path);
}

static void test_file(void **state)
{
	struct fixture *f = *state;
	struct debugfiles *df = debugfiles_new(NULL);
	uint8_t other[20] = {1};
	struct err err = {0};
	char path[128];

	put_sample(f, &f->kernel, "vmlinux", path, sizeof(path));
	assert_int_equal(debugfiles_add(df, "/nonexistent/vmlinux", &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_int_equal(debugfiles_add(df, path, NULL), 0);
	assert_string_equal(debugfiles_find(df, "vmlinux", f->id, f->len, NULL), path);
	assert_null(debugfiles_find(df, "vmlinux", other, sizeof(other), NULL));
	assert_null(debugfiles_find(df, "xfs", NULL, 0, NULL));
	debugfiles_free(df);
}

/* A file that the user has named is not passed over in silence, whatever it is called. */
static void test_file_of_any_name(void **state)
{
	struct fixture *f = *state;
	struct debugfiles *df = debugfiles_new(NULL);
	uint8_t other[20] = {1};
	struct err err = {0};
	char path[128], cut[128];
	struct sample half = f->kernel;

	put_sample(f, &f->kernel, "my.kolab/kernel.dbg", path, sizeof(path));
	assert_int_equal(debugfiles_add(df, path, NULL), 0);
	assert_string_equal(debugfiles_find(df, "vmlinux", f->id, f->len, NULL), path);
	assert_null(debugfiles_find(df, "vmlinux", other, sizeof(other), &err));
	assert_non_null(strstr(err.text, "kernel.dbg: of another build"));
	err = (struct err){0};
	assert_null(debugfiles_find(df, "xfs", other, sizeof(other), &err));
	assert_non_null(strstr(err.text, "no debug file for xfs"));
	err = (struct err){0};
	assert_null(debugfiles_find(df, "vmlinux", NULL, 0, &err));
	assert_non_null(strstr(err.text, "kernel.dbg: without a build id"));
	debugfiles_free(df);
	half.len /= 2;
	put_sample(f, &half, "my.kolab/half.dbg", cut, sizeof(cut));
	df = debugfiles_new(NULL);
	assert_int_equal(debugfiles_add(df, cut, NULL), 0);
	err = (struct err){0};
	assert_null(debugfiles_find(df, "vmlinux", f->id, f->len, &err));
	assert_non_null(strstr(err.text, "half.dbg"));
	debugfiles_free(df);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_package, setup, teardown),
		cmocka_unit_test_setup_teardown(test_build_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file_of_any_name, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
