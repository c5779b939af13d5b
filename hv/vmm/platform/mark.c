// SPDX-License-Identifier: GPL-2.0-or-later
/* Emulates the registers of the mark (mark.h). The guest chooses all values, so each one is masked to its range. */
#include "hv/vmm/platform/mark.h"

#include <string.h>

void mark_init(struct mark *m)
{
	memset(m, 0, sizeof(*m));
	for (unsigned side = 0; side < 2; side++)
		atomic_init(&m->status[side], -1);
}

static void tell(const struct mark *m, enum mark_event event, unsigned side)
{
	if (m->happened)
		m->happened(m->ctx, event, side);
}

/* Returns the next byte of the commands. After the last byte of the last command, every further byte is 0. */
static uint8_t next_byte(struct mark *m)
{
	unsigned command = atomic_load(&m->command), byte = atomic_load(&m->byte);
	uint8_t c;

	if (command >= sizeof(m->text) / sizeof(m->text[0]) || !m->text[command])
		return 0;
	c = (uint8_t)m->text[command][byte];
	atomic_store(&m->byte, c ? byte + 1 : 0);
	if (!c)
		atomic_store(&m->command, command + 1);
	return c;
}

static uint64_t mark_read(void *dev, uint64_t offset, unsigned size)
{
	struct mark *m = dev;

	(void)size;
	if (offset == MARK_CONTROL)
		return MARK_MAGIC;
	if (offset == MARK_TEXT)
		return next_byte(m);
	if (atomic_load(&m->open[offset & 1]))
		return m->baseline ? MARK_BASELINE : MARK_GO;
	atomic_fetch_add(&m->asked[offset & 1], 1);
	tell(m, MARK_WAITS, offset & 1);
	return MARK_WAIT;
}

static void control(struct mark *m, uint8_t value)
{
	if (value == MARK_NO_FAILURE) {
		atomic_store(&m->over, true);
		tell(m, MARK_OVER, 0);
		return;
	}
	atomic_store(&m->failure, value <= MARK_ONE_CPU ? value : MARK_START_FAILED);
	tell(m, MARK_FAILED, 0);
}

static void mark_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct mark *m = dev;
	unsigned side = offset & 1;

	(void)size;
	if (offset == MARK_CONTROL)
		control(m, (uint8_t)value);
	if (offset >= MARK_CONTROL)
		return;
	atomic_store(&m->status[side], (int)(value & 0xff));
	if (m->then_other[side])
		atomic_store(&m->open[!side], true);
	tell(m, MARK_ENDED, side);
}

const struct bus_ops mark_ops = {.read = mark_read, .write = mark_write};
