// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pool_start SYSTEM_MAP VMLINUX: how long the pool of a kernel takes to begin with, and how long it would take if all functions
 * were decoded at once. "NAME SECONDS" a line, in CPU time. SYSTEM_MAP is a list of symbols, VMLINUX the ELF file with the text
 * at the same addresses.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hv/detect/steer/pool.h"

/* As many as `outrider run` arms at first. */
#define CHOSEN 512

struct image {
	const uint8_t *bytes;
	size_t len;
};

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Prints how long it was since *then, which becomes now. */
static void took(const char *name, double *then)
{
	double now = cpu_seconds();

	printf("%s %.6f\n", name, now - *then);
	*then = cpu_seconds();
}

static bool all(void *ctx, const struct symbol *function)
{
	(void)ctx;
	(void)function;
	return true;
}

static int code(void *ctx, uint64_t gva, void *buf, size_t len)
{
	const struct image *image = ctx;
	const Elf64_Ehdr *head = (const void *)image->bytes;

	for (unsigned i = 0; i < head->e_phnum; i++) {
		const Elf64_Phdr *part = (const Elf64_Phdr *)(image->bytes + head->e_phoff) + i;

		if (part->p_type != PT_LOAD || gva < part->p_vaddr || gva - part->p_vaddr + len > part->p_filesz)
			continue;
		memcpy(buf, image->bytes + part->p_offset + (gva - part->p_vaddr), len);
		return 0;
	}
	return -1;
}

static int map(const char *path, struct image *image)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *bytes;

	if (fd < 0 || fstat(fd, &st))
		return -1;
	image->len = (size_t)st.st_size;
	bytes = mmap(NULL, image->len, PROT_READ, MAP_PRIVATE, fd, 0);
	image->bytes = bytes;
	close(fd);
	return bytes == MAP_FAILED || image->len < sizeof(Elf64_Ehdr) || memcmp(bytes, ELFMAG, SELFMAG) != 0 ? -1 : 0;
}

static void decode_all(struct pool *pool, const struct symtab *symbols, uint64_t start, uint64_t end)
{
	struct symbol fn;

	for (size_t i = 0; pool_next_function(pool, symbols, start, end, &i, &fn);)
		pool_has_site(pool, fn.addr);
}

int main(int argc, char **argv)
{
	struct image image;
	const struct pool_source source = {.eligible = all, .code = code, .ctx = &image};
	const struct pool_filter filter = {0};
	struct rng rng = {.state = 1};
	struct symtab *symbols;
	struct symbol from, to;
	struct pool *pool;
	struct err err = {0};
	double then = cpu_seconds();
	int64_t functions;

	if (argc != 3 || map(argv[2], &image)) {
		fprintf(stderr, "usage: pool_start SYSTEM_MAP VMLINUX\n");
		return 2;
	}
	symbols = symtab_load(argv[1], &err);
	pool = pool_new(&source, &filter);
	if (!symbols || !pool || symtab_find(symbols, "_stext", &from) || symtab_find(symbols, "_etext", &to)) {
		fprintf(stderr, "pool_start: %s: %s\n", argv[1], symbols ? "no _stext and _etext" : err.text);
		return 1;
	}
	took("symbols", &then);
	functions = pool_add(pool, &image, symbols, from.addr, to.addr, &err);
	took("functions", &then);
	for (unsigned i = 0; i < CHOSEN && functions > 0; i++)
		pool_choose(pool, &rng);
	took("first-points", &then);
	decode_all(pool, symbols, from.addr, to.addr);
	took("the-rest", &then);
	printf("functions-number %lld\nsites-number %llu\n", (long long)functions, (unsigned long long)pool_sites(pool));
	pool_free(pool);
	symtab_free(symbols);
	return 0;
}
