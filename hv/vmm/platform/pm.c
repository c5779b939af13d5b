/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Emulates the registers by which ACPI powers the machine off (PM1 status, enable and control), and the PM timer. */
#include "hv/vmm/platform/pm.h"

#include <string.h>

#include "hv/base/clock.h"

#define STATUS_MASK 0x8731 /* the bits that are implemented; writing 1 to a bit clears the bit */
#define ENABLE_MASK 0x4721
#define CONTROL_SCI_EN 1
#define CONTROL_MASK 0x1c07
#define CONTROL_SLP_EN (1 << 13)
#define SLP_TYP_S5 5
#define TIMER_HZ 3579545u
#define NS_PER_S 1000000000u

enum { OFF_STATUS, OFF_ENABLE = 2, OFF_CONTROL = 4, OFF_TIMER = 8 };

void pm_init(struct pm *pm, const struct irq_line *sci, const struct power_line *power)
{
	memset(pm, 0, sizeof(*pm));
	pthread_mutex_init(&pm->lock, NULL);
	pm->sci = *sci;
	pm->power = *power;
	pm->control = CONTROL_SCI_EN; /* the FADT names no SMI_CMD, so the machine is in ACPI mode from the start */
}

void pm_destroy(struct pm *pm)
{
	pthread_mutex_destroy(&pm->lock);
}

static uint32_t ticks_at(uint64_t now_ns)
{
	return (uint32_t)(now_ns / NS_PER_S * TIMER_HZ + now_ns % NS_PER_S * TIMER_HZ / NS_PER_S);
}

static uint8_t register_byte(const struct pm *pm, uint32_t timer, uint64_t offset)
{
	const uint16_t pm1[] = {pm->status, pm->enable, pm->control, 0};

	if (offset >= OFF_TIMER)
		return (uint8_t)(timer >> 8 * (offset - OFF_TIMER));
	return (uint8_t)(pm1[offset / 2] >> 8 * (offset % 2));
}

static uint64_t pm_read(void *dev, uint64_t offset, unsigned size)
{
	struct pm *pm = dev;
	uint32_t timer = offset + size > OFF_TIMER ? ticks_at(monotonic_ns()) + pm->timer_offset : 0;
	uint32_t value = 0;

	pthread_mutex_lock(&pm->lock);
	for (unsigned i = 0; i < size; i++)
		value |= (uint32_t)register_byte(pm, timer, offset + i) << 8 * i;
	pthread_mutex_unlock(&pm->lock);
	return value;
}

static void update_sci(struct pm *pm)
{
	bool level = (pm->status & pm->enable) && (pm->control & CONTROL_SCI_EN);

	if (level == pm->sci_level)
		return;
	pm->sci_level = level;
	irq_set(&pm->sci, level);
}

/* Returns the 16-bit register with its high byte (`hi`) or its low byte replaced. */
static uint16_t with_byte(uint16_t reg, bool hi, uint8_t byte)
{
	return hi ? (uint16_t)((reg & 0x00ff) | byte << 8) : (uint16_t)((reg & 0xff00) | byte);
}

/* Write one byte of a register. Returns true if the byte sets SLP_EN with the SLP_TYP of S5, which powers the machine off. */
static bool write_byte(struct pm *pm, uint64_t offset, uint8_t byte)
{
	bool hi = offset & 1;
	uint16_t value;

	switch (offset & ~1ull) {
	case OFF_STATUS:
		pm->status &= (uint16_t) ~(with_byte(0, hi, byte) & STATUS_MASK);
		break;
	case OFF_ENABLE:
		pm->enable = with_byte(pm->enable, hi, byte) & ENABLE_MASK;
		break;
	case OFF_CONTROL:
		value = with_byte(pm->control, hi, byte);
		pm->control = (value & CONTROL_MASK) | CONTROL_SCI_EN;
		return (value & CONTROL_SLP_EN) && (value >> 10 & 7) == SLP_TYP_S5;
	default:
		break;
	}
	return false;
}

static void pm_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct pm *pm = dev;
	bool off = false;

	pthread_mutex_lock(&pm->lock);
	for (unsigned i = 0; i < size; i++)
		off |= write_byte(pm, offset + i, (uint8_t)(value >> 8 * i));
	update_sci(pm);
	pthread_mutex_unlock(&pm->lock);
	if (off)
		power_end(&pm->power, VM_END_POWEROFF, "ACPI S5");
}

const struct bus_ops pm_ops = {.read = pm_read, .write = pm_write};

/* ---- snapshots ---- */

void pm_save(struct pm *pm, uint64_t now_ns, struct pm_state *out)
{
	pthread_mutex_lock(&pm->lock);
	*out = (struct pm_state){
		.status = pm->status,
		.enable = pm->enable,
		.control = pm->control,
		.sci_level = pm->sci_level,
		.timer = ticks_at(now_ns) + pm->timer_offset,
	};
	pthread_mutex_unlock(&pm->lock);
}

bool pm_load(struct pm *pm, uint64_t now_ns, const struct pm_state *state)
{
	if (state->status & ~STATUS_MASK || state->enable & ~ENABLE_MASK || state->control & ~CONTROL_MASK ||
	    !(state->control & CONTROL_SCI_EN) || state->sci_level > 1)
		return false;
	pm->status = state->status;
	pm->enable = state->enable;
	pm->control = state->control;
	pm->sci_level = state->sci_level;
	pm->timer_offset = state->timer - ticks_at(now_ns);
	return true;
}
