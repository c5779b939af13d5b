// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest without a kernel whose disk never comes to an end. It writes an image. Each sector of it holds an available ring with
 * ENTRIES more entries, and the header of requests to read the next sector, both at the place where they come to lie when the
 * sector is read. Then it asks for the first sector ENTRIES times, as many as outrider takes before it serves the first. Each
 * such batch adds the next one, so the disk's thread of the host never finds its queue empty. When hundreds of reads are done,
 * the guest says "endless" on its console, and stands. With the word "off" in its command line it powers the machine off then,
 * and with the word "flood" it goes on saying so.
 *
 * 32-bit code without paging, as PVH starts it (Xen's docs/misc/pvh.pandoc). in-lab/endless-disk.py makes an ELF file of it
 * that outrider boots. It overwrites the first disk of the machine, which must have 2 MiB.
 */
#include <stdint.h>

#define SECTOR 512u
#define ENTRIES 16u   /* of the queue, and BLK_BATCH of hv/vmm/block/request.h */
#define SECTORS 4096u /* the available index has 16 bits, and wraps after 65536 / ENTRIES batches */
#define IMAGE ((uint8_t *)0x1000000)
#define DESC ((volatile struct descriptor *)0x200000)
#define AVAIL ((uint8_t *)0x201000) /* of a sector's length: the ring, and in its second half the header of a request */
#define HEADER (AVAIL + SECTOR / 2)
#define USED_INDEX (*(volatile uint16_t *)0x202002)
#define STATUS ((volatile uint8_t *)0x203000)
/*
 * Where the guest puts the device's registers. They must not overlap the BARs that outrider has placed, from 0xc0000000 on.
 * Their order is outrider's (hv/vmm/virtio/internal.h).
 */
#define REGISTERS 0xd0000000u
#define NOTIFY (REGISTERS + 0x3000)
#define ENOUGH 200 /* reads; the queue can hold ENTRIES */

struct descriptor {
	uint64_t gpa;
	uint32_t len;
	uint16_t flags, next;
};

enum { NEXT = 1, WRITE = 2 }; /* a descriptor's flags */
enum { DISK_READ, DISK_WRITE };

struct start_info {
	uint32_t magic, version, flags, modules;
	uint64_t module_list, cmdline;
};

/* The first function, so that it is at the start of the code. EBX holds the start_info. */
__asm__(".globl start\n"
	"start:\n"
	"	mov $0x180000, %esp\n"
	"	push %ebx\n"
	"	call guest\n");

static void out(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

static void out32(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" ::"a"(value), "Nd"(port));
}

static uint32_t in32(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static void say(const char *text)
{
	while (*text)
		out(0x3f8, (uint8_t)*text++);
}

static void config_select(unsigned slot, unsigned offset)
{
	out32(0xcf8, 0x80000000u | slot << 11 | offset);
}

static uint32_t config_read(unsigned slot, unsigned offset)
{
	config_select(slot, offset);
	return in32(0xcfc);
}

static void config_write(unsigned slot, unsigned offset, uint32_t value)
{
	config_select(slot, offset);
	out32(0xcfc, value);
}

static void wr8(uint32_t offset, uint8_t value)
{
	*(volatile uint8_t *)(REGISTERS + offset) = value;
}

static void wr16(uint32_t offset, uint16_t value)
{
	*(volatile uint16_t *)(REGISTERS + offset) = value;
}

static void wr32(uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)(REGISTERS + offset) = value;
}

/* Virtio 1.2, 3.1.1 and 4.1.4.3: reset, features, queue 0, go. */
static void start_device(void)
{
	wr8(0x14, 0);
	wr8(0x14, 3);
	wr32(0x08, 1);
	wr32(0x0c, 1); /* VERSION_1 */
	wr8(0x14, 11);
	wr16(0x16, 0);
	wr16(0x18, ENTRIES);
	wr32(0x20, (uint32_t)DESC);
	wr32(0x24, 0);
	wr32(0x28, (uint32_t)AVAIL);
	wr32(0x2c, 0);
	wr32(0x30, (uint32_t)&USED_INDEX - 2);
	wr32(0x34, 0);
	wr16(0x1c, 1);
	wr8(0x14, 15);
}

static int find_disk(void)
{
	for (unsigned slot = 0; slot < 32; slot++) {
		if (config_read(slot, 0) != 0x10421af4)
			continue;
		config_write(slot, 0x20, REGISTERS);
		config_write(slot, 0x24, 0);
		config_write(slot, 4, 6); /* memory, bus master */
		return 1;
	}
	return 0;
}

/* The available ring with `count` entries that were added so far, and the header of the request for a sector. */
static void fill(uint8_t *at, uint16_t count, uint32_t type, uint32_t sector)
{
	for (unsigned i = 0; i < SECTOR / 4; i++)
		((uint32_t *)at)[i] = 0;
	((uint16_t *)at)[1] = count;
	((uint32_t *)at)[SECTOR / 8] = type;
	((uint32_t *)at)[SECTOR / 8 + 2] = sector;
}

/* One request with `len` bytes at `data`. */
static void ask(uint8_t *data, uint32_t len, uint16_t data_flags)
{
	DESC[0] = (struct descriptor){(uint32_t)HEADER, 16, NEXT, 1};
	DESC[1] = (struct descriptor){(uint32_t)data, len, data_flags | NEXT, 2};
	DESC[2] = (struct descriptor){(uint32_t)STATUS, 1, WRITE, 0};
	/* The device reads what was written, of which the compiler knows nothing. */
	__asm__ volatile("" ::: "memory");
	*(volatile uint16_t *)NOTIFY = 0;
}

static void write_image(void)
{
	/* This request is the first. Batch n follows, reads sector n, and so adds batch n + 1. */
	for (uint32_t n = 0; n < SECTORS; n++)
		fill(IMAGE + n * SECTOR, (uint16_t)(1 + ENTRIES * (n + 2)), DISK_READ, (n + 1) % SECTORS);
	fill(AVAIL, 1, DISK_WRITE, 0);
	ask(IMAGE, SECTORS * SECTOR, 0);
	while (USED_INDEX != 1)
		;
}

static int starts_with(const char *text, const char *word)
{
	for (; *word; word++)
		if (*text++ != *word)
			return 0;
	return 1;
}

static int has_word(const char *line, const char *word)
{
	for (; *line; line++)
		if (starts_with(line, word))
			return 1;
	return 0;
}

void guest(const struct start_info *info)
{
	const char *line = (const char *)(uint32_t)info->cmdline;

	if (!find_disk()) {
		say("no disk\n");
	} else {
		start_device();
		write_image();
		fill(AVAIL, 1 + ENTRIES, DISK_READ, 0);
		ask(AVAIL, SECTOR, WRITE);
		while (USED_INDEX < ENOUGH)
			;
		say("endless\n");
	}
	while (has_word(line, "flood"))
		say("endless\n");
	if (has_word(line, "off")) {
		out(0x604, 0);
		out(0x605, 0x34); /* SLP_EN, S5 */
	}
	for (;;)
		__asm__ volatile("cli; hlt");
}
