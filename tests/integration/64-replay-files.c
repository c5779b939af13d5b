// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Take a stopped QEMU machine as an image: RAM of the file that backs it, registers of its gdbstub.
 *
 * 64-replay-files vmcore RAM STUB OUT: write it as a core.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/guest/guest.h"
#include "hv/replay/image.h"
#include "hv/replay/vmcore/vmcore.h"
#include "hv/rsp/rsp.h"

#define CPUS_MAX 16

struct machine {
	struct ram ram;
	struct replay_cpu cpus[CPUS_MAX];
	struct x86_regs regs[CPUS_MAX]; /* the same ones, for the image */
	unsigned count;
};

static void check(bool good, const char *what, const struct err *err)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, err->text);
	exit(1);
}

/* A private mapping: what the machine does later is not seen once all of it was copied. */
static void take_ram(struct machine *m, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err err = {0};
	struct stat st;

	check(fd >= 0 && fstat(fd, &st) == 0, path, &err);
	check(ram_map(&m->ram, (uint64_t)st.st_size, &err) == 0, path, &err);
	for (uint64_t at = 0; at < m->ram.low;) {
		ssize_t n = pread(fd, m->ram.host + at, m->ram.low - at, (off_t)at);

		check(n > 0, "pread", &err);
		at += (uint64_t)n;
	}
	close(fd);
}

static void take(struct machine *m, const char *ram, const char *stub)
{
	uint32_t threads[CPUS_MAX];
	struct err err = {0};
	int fd = rsp_connect(stub, NULL, &err), count;
	struct rsp *r;

	check(fd >= 0, stub, &err);
	r = rsp_open(fd, true, NULL, NULL, &err);
	check(r != NULL, stub, &err);
	count = rsp_threads(r, threads, CPUS_MAX);
	check(count > 0, "threads", &err);
	m->count = (unsigned)count;
	for (unsigned i = 0; i < m->count; i++) {
		check(rsp_regs(r, threads[i], &m->regs[i]) == 0, "registers", &err);
		m->cpus[i].regs = m->regs[i];
	}
	take_ram(m, ram);
	check(rsp_detach(r) == 0, "detach", &err);
	rsp_close(r);
}

static int read_guest(void *ctx, uint64_t gva, void *buf, size_t len)
{
	return guest_read(ctx, gva, buf, len);
}

static void vmcore(struct machine *m, const char *out)
{
	struct vmcore_kernel kernel;
	int32_t pids[CPUS_MAX];
	struct vmcore core = {.ram = &m->ram, .cpus = m->cpus, .count = m->count, .pids = pids, .kernel = &kernel};
	struct guest_context context;
	struct err err = {0};
	struct image image;
	struct guest *guest;

	image_init(&image, &m->ram, m->regs, m->count);
	guest = guest_new(&image.target, NULL, NULL, &err);
	check(guest && guest_poll(guest, &err) == 1, "the kernel", &err);
	check(vmcore_kernel_read(&kernel, &(struct guest_reader){read_guest, guest}, guest_symtab(guest), &err) == 0,
	      "VMCOREINFO", &err);
	for (unsigned i = 0; i < m->count; i++) {
		guest_context(guest, &m->regs[i], &context);
		pids[i] = context.pid;
	}
	check(vmcore_write(&core, out, &err) == 0, out, &err);
	guest_free(guest);
}

int main(int argc, char **argv)
{
	struct machine m = {0};

	if (argc != 5 || strcmp(argv[1], "vmcore") != 0)
		return 2;
	take(&m, argv[2], argv[3]);
	vmcore(&m, argv[4]);
	ram_unmap(&m.ram);
	return 0;
}
