/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes guest-physical memory of a machine with a gdbstub (memory.h). QEMU's monitor, whose commands the stub passes
 * on, says which addresses are RAM.
 */
#include "hv/target/gdb/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/base/x86.h"
#include "hv/target/gdb/process.h"

#define BLOCK (2u << 20)      /* The monitor is asked about this many bytes of RAM at a time */
#define LOW_MEMORY (1u << 20) /* Below this GPA, where PCs have holes and ROMs, the monitor is asked page by page */

/* ---- what is RAM ---- */

/* Returns the address of the page at `gpa` in the QEMU process, or 0 if the page is not RAM. */
static uint64_t ask_hva(struct gdb_memory *m, uint64_t gpa)
{
	char command[64], answer[256], *at;

	snprintf(command, sizeof(command), "gpa2hva 0x%" PRIx64, gpa);
	if (rsp_monitor(m->rsp, command, answer, sizeof(answer)))
		return 0;
	/* The answer is "Host virtual address for 0x1000 (pc.ram) is 0x7f...". Any other answer is an error message. */
	at = strncmp(answer, "Host virtual address", 20) == 0 ? strstr(answer, " is 0x") : NULL;
	return at ? strtoull(at + 4, NULL, 16) : 0;
}

static const struct gdb_stretch *find_stretch(const struct gdb_memory *m, uint64_t gpa)
{
	for (unsigned i = 0; i < m->stretch_count; i++) {
		if (gpa - m->stretches[i].gpa < m->stretches[i].len)
			return &m->stretches[i];
	}
	return NULL;
}

static void add_stretch(struct gdb_memory *m, const struct gdb_stretch *new)
{
	pthread_rwlock_wrlock(&m->lock);
	for (unsigned i = 0; i < m->stretch_count; i++) {
		struct gdb_stretch *stretch = &m->stretches[i];

		if (stretch->gpa + stretch->len == new->gpa &&
		    (stretch->hva ? new->hva == stretch->hva + stretch->len : !new->hva)) {
			stretch->len += new->len;
			goto out;
		}
	}
	/* If the table is full, empty it: a guest can make the target ask about any number of addresses that are not RAM. */
	if (m->stretch_count == GDB_STRETCHES_MAX)
		m->stretch_count = 0;
	m->stretches[m->stretch_count++] = *new;
out:
	pthread_rwlock_unlock(&m->lock);
}

static struct gdb_stretch ask_about(struct gdb_memory *m, uint64_t gpa)
{
	uint64_t size = gpa < LOW_MEMORY ? X86_PAGE_SIZE : BLOCK;
	struct gdb_stretch stretch = {.gpa = gpa & ~(size - 1), .len = size};

	stretch.hva = ask_hva(m, stretch.gpa);
	if (size == X86_PAGE_SIZE ||
	    (stretch.hva && ask_hva(m, stretch.gpa + size - X86_PAGE_SIZE) == stretch.hva + size - X86_PAGE_SIZE))
		return stretch;
	/* RAM begins or ends within the block, so ask about the page alone. */
	stretch = (struct gdb_stretch){.gpa = gpa & ~(uint64_t)(X86_PAGE_SIZE - 1), .len = X86_PAGE_SIZE};
	stretch.hva = ask_hva(m, stretch.gpa);
	return stretch;
}

/*
 * Returns the number of bytes from `gpa` on in one stretch of RAM, at most `len`, or 0 when `gpa` is not RAM. Without a
 * monitor, every address is taken for RAM, and the stub fails an access to an address that is not RAM.
 */
static size_t ram_here(struct gdb_memory *m, uint64_t gpa, size_t len)
{
	const struct gdb_stretch *stretch;
	uint64_t left;

	if (!m->monitor)
		return len;
	stretch = find_stretch(m, gpa);
	if (!stretch) {
		struct gdb_stretch new = ask_about(m, gpa);

		add_stretch(m, &new);
		stretch = find_stretch(m, gpa);
	}
	if (!stretch || !stretch->hva)
		return 0;
	left = stretch->len - (gpa - stretch->gpa);
	return left < len ? (size_t)left : len;
}

/* ---- without the stub ---- */

static int read_process(const struct gdb_memory *m, uint64_t hva, void *buf, size_t len)
{
	return hva <= INT64_MAX && pread(m->process, buf, len, (off_t)hva) == (ssize_t)len ? 0 : -1;
}

int gdb_memory_direct(struct gdb_memory *m, uint64_t gpa, void *buf, size_t len)
{
	int ret = 0;

	if (!m->direct)
		return 1;
	if (gpa + len < gpa)
		return -1;
	pthread_rwlock_rdlock(&m->lock);
	for (size_t done = 0, n; done < len && ret == 0; done += n) {
		const struct gdb_stretch *stretch = find_stretch(m, gpa + done);
		uint64_t into = stretch ? gpa + done - stretch->gpa : 0, left = stretch ? stretch->len - into : 0;

		n = left < len - done ? (size_t)left : len - done;
		if (!stretch)
			ret = 1;
		else if (!stretch->hva)
			ret = -1;
		else if (read_process(m, stretch->hva + into, (char *)buf + done, n))
			ret = 1;
	}
	pthread_rwlock_unlock(&m->lock);
	return ret;
}

/* ---- through the stub ---- */

/* Returns the cached line that contains `gpa`, or NULL if the stub cannot read it. */
static const struct gdb_line *read_line(struct gdb_memory *m, uint64_t gpa)
{
	struct gdb_line *line = &m->lines[gpa / GDB_LINE % GDB_LINES];

	gpa &= ~(uint64_t)(GDB_LINE - 1);
	if (line->valid && line->gpa == gpa)
		return line;
	line->valid = false;
	line->gpa = gpa;
	if (rsp_read(m->rsp, gpa, line->bytes, sizeof(line->bytes)))
		return NULL;
	line->valid = true;
	return line;
}

static int read_stub(struct gdb_memory *m, uint64_t gpa, uint8_t *buf, size_t len)
{
	size_t offset = gpa & (GDB_LINE - 1);
	const struct gdb_line *line;

	if (len > GDB_LINE - offset)
		return rsp_read(m->rsp, gpa, buf, len);
	line = read_line(m, gpa);
	if (line)
		memcpy(buf, line->bytes + offset, len);
	return line ? 0 : -1;
}

int gdb_memory_read(struct gdb_memory *m, uint64_t gpa, void *buf, size_t len)
{
	if (gpa + len < gpa)
		return -1;
	for (size_t done = 0, n; done < len; done += n) {
		n = ram_here(m, gpa + done, len - done);
		if (!n)
			return -1;
		if (gdb_memory_direct(m, gpa + done, (char *)buf + done, n) &&
		    read_stub(m, gpa + done, (uint8_t *)buf + done, n))
			return -1;
	}
	return 0;
}

int gdb_memory_write(struct gdb_memory *m, uint64_t gpa, const void *buf, size_t len)
{
	if (gpa + len < gpa)
		return -1;
	gdb_memory_forget(m);
	for (size_t done = 0, n; done < len; done += n) {
		n = ram_here(m, gpa + done, len - done);
		if (!n || rsp_write(m->rsp, gpa + done, (const char *)buf + done, n))
			return -1;
	}
	return 0;
}

void gdb_memory_forget(struct gdb_memory *m)
{
	for (unsigned i = 0; i < GDB_LINES; i++)
		m->lines[i].valid = false;
}

/* ---- life cycle ---- */

/*
 * Returns true if the opened process has the guest's memory at the addresses that the monitor tells. Compares samples of memory
 * read from the process and through the stub. All samples must be equal, and enough of their bytes must differ from 0.
 */
static bool try_direct(struct gdb_memory *m)
{
	uint8_t here[GDB_LINE], there[GDB_LINE];
	unsigned same = 0;

	for (uint64_t gpa = 0; gpa < 64u << 20; gpa += 61 * X86_PAGE_SIZE) {
		uint64_t hva = ask_hva(m, gpa);

		if (!hva || rsp_read(m->rsp, gpa, there, sizeof(there)))
			continue;
		if (read_process(m, hva, here, sizeof(here)) || memcmp(here, there, sizeof(here)) != 0)
			return false;
		for (unsigned i = 0; i < sizeof(here); i++)
			same += here[i] != 0;
	}
	return same > GDB_LINE;
}

void gdb_memory_init(struct gdb_memory *m, struct rsp *rsp, pid_t pid)
{
	char answer[64];

	*m = (struct gdb_memory){.rsp = rsp, .process = -1};
	pthread_rwlock_init(&m->lock, NULL);
	m->monitor =
		rsp_monitor(rsp, "gpa2hva 0", answer, sizeof(answer)) == 0 && strncmp(answer, "Host virtual address", 20) == 0;
	if (!m->monitor) {
		m->why_not = "the gdbstub has no monitor, or it is not QEMU's";
		return;
	}
	m->process = gdb_process_open(rsp_fd(rsp), pid, &m->why_not);
	m->direct = m->process >= 0 && try_direct(m);
	if (m->process >= 0 && !m->direct)
		m->why_not = "the gdbstub and the QEMU process show different bytes for the same guest memory";
}

void gdb_memory_fini(struct gdb_memory *m)
{
	if (m->process >= 0)
		close(m->process);
	pthread_rwlock_destroy(&m->lock);
}
