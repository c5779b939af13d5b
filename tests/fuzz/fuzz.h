/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzz targets share. A target is a program with libFuzzer (clang's documentation, "libFuzzer"): it hands each input
 * to a reader of ours, as a file, as guest memory or as what a peer sends. It fails when a sanitizer finds something, when an
 * input takes too long or too much memory, or when fuzz_require() does not hold.
 */
#ifndef OUTRIDER_TESTS_FUZZ_FUZZ_H
#define OUTRIDER_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hv/base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * AddressSanitizer keeps 256 MB of freed memory back by default, so that nearly each allocation is of new pages. What an input
 * frees fits into 8 MB. ASAN_OPTIONS comes before this.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8";
}

static inline void fuzz_fail(const char *what)
{
	fprintf(stderr, "does not hold: %s\n", what);
	abort();
}

#define fuzz_require(x) ((x) ? (void)0 : fuzz_fail(#x))

/* A refusal has a code and one line that says why. */
static inline void fuzz_refused(const struct err *err)
{
	fuzz_require(err->code != EXIT_OK);
	fuzz_require(err->text[0] && !strchr(err->text, '\n'));
}

/* A file of the process's own with this content. The same file serves each time. */
struct fuzz_file {
	int fd;
	char path[64];
};

static inline const char *fuzz_file(struct fuzz_file *f, const void *data, size_t size)
{
	if (!f->path[0]) {
		f->fd = memfd_create("fuzz", MFD_CLOEXEC);
		fuzz_require(f->fd >= 0);
		snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	}
	fuzz_require(ftruncate(f->fd, 0) == 0);
	fuzz_require(pwrite(f->fd, data, size, 0) == (ssize_t)size);
	return f->path;
}

/* Make a folder for files and sockets. It is in that of tests/fuzz/run, which removes it: a target that ends has no time for
 * it. */
static inline const char *fuzz_folder(void)
{
	static char path[64];
	const char *in = getenv("TMPDIR");

	if (!path[0]) {
		fuzz_require((size_t)snprintf(path, sizeof(path), "%s/fuzz-XXXXXX", in ? in : "/tmp") < sizeof(path));
		fuzz_require(mkdtemp(path));
	}
	return path;
}

/*
 * Changes to a world that is right otherwise: each is a byte that says which range, two that say where in it, one that says how
 * many bytes, and these bytes.
 */
struct fuzz_range {
	uint8_t *bytes;
	size_t len;
};

static inline void fuzz_patch(const struct fuzz_range *ranges, size_t count, const uint8_t *data, size_t size)
{
	while (size > 4) {
		const struct fuzz_range *r = &ranges[data[0] % count];
		size_t at = (size_t)(data[1] | data[2] << 8) % r->len, n = 1 + data[3] % 16;

		data += 4;
		size -= 4;
		n = n < size ? n : size;
		n = n < r->len - at ? n : r->len - at;
		memcpy(r->bytes + at, data, n);
		data += n;
		size -= n;
	}
}

#endif
