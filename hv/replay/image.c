// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/replay/image.h"

#include <string.h>

static const struct image *of(const struct target *t)
{
	return (const struct image *)t;
}

static int stand_still(struct target *t)
{
	(void)t;
	return 0;
}

static void go_on(struct target *t)
{
	(void)t;
}

static int read_phys(struct target *t, uint64_t gpa, void *buf, size_t len)
{
	const void *from = ram_at(of(t)->ram, gpa, len);

	if (!from)
		return -1;
	memcpy(buf, from, len);
	return 0;
}

static int peek_regs(struct target *t, unsigned cpu, struct x86_regs *regs)
{
	if (cpu >= t->caps.cpus)
		return -1;
	*regs = of(t)->regs[cpu];
	return 0;
}

static const struct target_ops ops = {
	.stand_still = stand_still,
	.go_on = go_on,
	.read_phys = read_phys,
	.peek_regs = peek_regs,
};

void image_init(struct image *image, const struct ram *ram, const struct x86_regs *regs, unsigned cpus)
{
	*image = (struct image){.target = {.ops = &ops, .caps = {.cpus = cpus}}, .ram = ram, .regs = regs};
}
