/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recognises image formats other than raw by their magic numbers, and names the command that converts such an image to raw. */
#include "hv/vmm/block/disk_format.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The magic numbers of image formats, taken from QEMU's drivers (block/NAME.c, bdrv_probe). */
static const struct format {
	const char *name;  /* name of the format for messages, and usual suffix of its files */
	const char *qemu;  /* the name that qemu-img uses */
	unsigned offset;   /* offset of the magic number, in bytes */
	const char *magic; /* contains no NUL */
} formats[] = {
	{"qcow2", "qcow2", 0, "QFI\xfb"},
	{"QED", "qed", 0, "QED"},
	{"VMDK", "vmdk", 0, "KDMV"},
	{"VMDK", "vmdk", 0, "COWD"},
	{"VMDK", "vmdk", 0, "# Disk DescriptorFile"},
	{"VDI", "vdi", 64, "\x7f\x10\xda\xbe"},
	{"VHDX", "vhdx", 0, "vhdxfile"},
	{"VHD", "vpc", 0, "conectix"},
	{"Parallels", "parallels", 0, "WithoutFreeSpace"},
	{"Parallels", "parallels", 0, "WithouFreSpacExt"},
};

/* Write `path` as one word of a shell's command line, truncated to `size` bytes. */
static void shell_word(const char *path, char *out, size_t size)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,:@%=-";
	size_t at = 0;

	/* Without "./", qemu-img would take a path that begins with a dash as an option. */
	const char *here = path[0] == '-' ? "./" : "";

	if (!path[strspn(path, plain)]) {
		snprintf(out, size, "%s%s", here, path);
		return;
	}
	at = (size_t)snprintf(out, size, "'%s", here);
	for (; *path && at + 6 < size; path++)
		at += (size_t)snprintf(out + at, size - at, *path == '\'' ? "'\\''" : "%c", *path);
	snprintf(out + at, size - at, "'");
}

static int refuse(const struct format *format, const char *path, struct err *err)
{
	char from[PATH_MAX + 16], raw[PATH_MAX], to[PATH_MAX + 16];
	size_t len = strlen(path), suffix = strlen(format->name);

	/* image.qcow2 becomes image.raw. */
	if (len > suffix + 1 && path[len - suffix - 1] == '.' && strcasecmp(path + len - suffix, format->name) == 0)
		len -= suffix + 1;
	snprintf(raw, sizeof(raw), "%.*s.raw", (int)(len < PATH_MAX ? len : PATH_MAX), path);
	shell_word(path, from, sizeof(from));
	shell_word(raw, to, sizeof(to));
	return err_set(
		err, EXIT_INPUT,
		"disk image %s begins like one in %s format, and outrider reads only raw images: give format=raw if it is a "
		"raw image and a guest wrote that beginning, or else convert it by: qemu-img convert -f %s -O raw %s %s",
		path, format->name, format->qemu, from, to);
}

int disk_format_check(int fd, const char *path, struct err *err)
{
	uint8_t start[128] = {0};
	ssize_t n = pread(fd, start, sizeof(start), 0);

	for (size_t i = 0; n > 0 && i < sizeof(formats) / sizeof(formats[0]); i++)
		if (memcmp(start + formats[i].offset, formats[i].magic, strlen(formats[i].magic)) == 0)
			return refuse(&formats[i], path, err);
	return 0;
}
