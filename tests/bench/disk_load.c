/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Usage: disk_load DEVICE read|write sequential|random BLOCK DEPTH COUNT
 *
 * Makes COUNT transfers of BLOCK bytes, past the page cache, with DEPTH of them under way at a time, and prints how many there
 * were a second. A guest for measurements has this in place of fio, whose libraries take up forty times the guest's memory.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DEPTH_MAX 64u
#define ALIGN 4096u

struct load {
	int fd;
	bool write, random;
	uint64_t block, depth, count, blocks; /* `blocks`: how many there are on the device. */
	uint64_t next;			      /* The number of the next transfer. */
	uint64_t seed;
	aio_context_t aio;
	struct iocb transfer[DEPTH_MAX];
};

static void die(const char *what)
{
	fprintf(stderr, "disk_load: %s: %m\n", what);
	exit(1);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Random places are the same in every run: a linear congruential generator with Knuth's constants. */
static uint64_t next_block(struct load *l)
{
	if (!l->random)
		return l->next % l->blocks;
	l->seed = l->seed * 6364136223846793005u + 1442695040888963407u;
	return (l->seed >> 33) % l->blocks;
}

static void submit(struct load *l, struct iocb *transfer)
{
	transfer->aio_offset = (int64_t)(next_block(l) * l->block);
	l->next++;
	if (syscall(SYS_io_submit, l->aio, 1, &transfer) != 1)
		die("io_submit");
}

static void prepare(struct load *l)
{
	if (syscall(SYS_io_setup, DEPTH_MAX, &l->aio))
		die("io_setup");
	for (uint64_t i = 0; i < l->depth; i++) {
		void *buffer = aligned_alloc(ALIGN, l->block);

		if (!buffer)
			die("memory");
		memset(buffer, 0x5a, l->block);
		l->transfer[i] = (struct iocb){
			.aio_fildes = (uint32_t)l->fd,
			.aio_lio_opcode = l->write ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
			.aio_buf = (uintptr_t)buffer,
			.aio_nbytes = l->block,
		};
	}
}

static void run(struct load *l)
{
	struct io_event done[DEPTH_MAX];

	for (uint64_t i = 0; i < l->depth && l->next < l->count; i++)
		submit(l, &l->transfer[i]);
	for (uint64_t finished = 0; finished < l->count;) {
		long n = syscall(SYS_io_getevents, l->aio, 1, DEPTH_MAX, done, NULL);

		if (n < 0)
			die("io_getevents");
		for (long i = 0; i < n; i++, finished++) {
			if (done[i].res != (int64_t)l->block)
				die("a transfer failed");
			if (l->next < l->count)
				submit(l, (struct iocb *)(uintptr_t)done[i].obj);
		}
	}
}

int main(int argc, char **argv)
{
	struct load l = {0};
	double began;

	if (argc != 7)
		return 2;
	l.write = strcmp(argv[2], "write") == 0;
	l.random = strcmp(argv[3], "random") == 0;
	l.block = strtoull(argv[4], NULL, 10);
	l.depth = strtoull(argv[5], NULL, 10);
	l.count = strtoull(argv[6], NULL, 10);
	l.fd = open(argv[1], (l.write ? O_WRONLY : O_RDONLY) | O_DIRECT | O_CLOEXEC);
	if (l.fd < 0)
		die(argv[1]);
	l.blocks = l.block && l.block % ALIGN == 0 ? (uint64_t)lseek(l.fd, 0, SEEK_END) / l.block : 0;
	if (!l.blocks || !l.depth || l.depth > DEPTH_MAX)
		return 2;
	prepare(&l);
	began = seconds();
	run(&l);
	printf("%.1f\n", (double)l.count / (seconds() - began));
	return 0;
}
