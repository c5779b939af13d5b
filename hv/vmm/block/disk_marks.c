/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/vmm/block/disk_marks.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

int disk_marks_open(struct disk_marks *m, uint64_t disk_size, struct err *err)
{
	size_t len = sizeof(*m->words) * (1 + (size_t)((disk_size + DISK_MARKS_BLOCK - 1) / DISK_MARKS_BLOCK));
	void *words = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*m = (struct disk_marks){0};
	if (words == MAP_FAILED)
		return err_set(err, EXIT_INPUT, "no memory to record which blocks of a disk of %llu bytes the guest writes: %s",
			       (unsigned long long)disk_size, strerror(errno));
	*m = (struct disk_marks){.words = words, .len = len};
	return 0;
}

void disk_marks_close(struct disk_marks *m)
{
	if (m->words)
		munmap((void *)m->words, m->len);
	*m = (struct disk_marks){0};
}

uint32_t disk_marks_next(struct disk_marks *m)
{
	return m->words ? atomic_fetch_add(&m->words[0], 1) : 0;
}

void disk_marks_write(struct disk_marks *m, uint64_t offset, uint64_t len)
{
	uint32_t now;

	if (!m->words || !len)
		return;
	now = atomic_load(&m->words[0]);
	for (uint64_t block = offset / DISK_MARKS_BLOCK; block <= (offset + len - 1) / DISK_MARKS_BLOCK; block++)
		atomic_store(&m->words[1 + block], now);
}

bool disk_marks_older(const struct disk_marks *m, uint64_t offset, uint64_t len, uint32_t time)
{
	if (!m->words)
		return false;
	for (uint64_t block = offset / DISK_MARKS_BLOCK; len && block <= (offset + len - 1) / DISK_MARKS_BLOCK; block++)
		if (atomic_load(&m->words[1 + block]) > time)
			return false;
	return true;
}
