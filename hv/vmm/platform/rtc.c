/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulates the MC146818 real-time clock with its CMOS memory. The guest selects a register by an index port and accesses it by
 * a data port. The guest's time is the host's time plus an offset.
 */
#include "hv/vmm/platform/rtc.h"

#include <string.h>

enum {
	SECONDS = 0x00,
	SECONDS_ALARM = 0x01,
	MINUTES = 0x02,
	MINUTES_ALARM = 0x03,
	HOURS = 0x04,
	HOURS_ALARM = 0x05,
	WEEKDAY = 0x06,
	DAY = 0x07,
	MONTH = 0x08,
	YEAR = 0x09,
	REG_A = 0x0a,
	REG_B = 0x0b,
	REG_C = 0x0c,
	REG_D = 0x0d,
	CENTURY = 0x32, /* the FADT's CENTURY field has this index */
};

enum { A_UIP = 0x80 };
enum { B_SET = 0x80, B_ALARM = 0x20, B_UPDATE = 0x10, B_BINARY = 0x04, B_24H = 0x02 };
enum { C_IRQ = 0x80, C_ALARM = 0x20, C_UPDATE = 0x10 };
enum { D_VALID = 0x80 };
enum { ALARM_ANY = 0xc0, HOUR_PM = 0x80 };

/*
 * Make the C library read the time zone's file now, because a confined thread may not open files later. Only the first
 * gmtime_r() or timegm() of a process reads the file, so a copy in a confined process can call this again. tzset() would read
 * the file each time.
 */
static void read_time_zone(void)
{
	const time_t any = 0;
	struct tm tm;

	gmtime_r(&any, &tm);
}

void rtc_init(struct rtc *rtc, const struct irq_line *irq)
{
	memset(rtc, 0, sizeof(*rtc));
	pthread_mutex_init(&rtc->lock, NULL);
	read_time_zone();
	rtc->irq = *irq;
	rtc->ram[REG_A] = 0x26; /* 32.768 kHz time base */
	rtc->ram[REG_B] = B_24H;
	rtc->ram[REG_D] = D_VALID;
}

void rtc_destroy(struct rtc *rtc)
{
	pthread_mutex_destroy(&rtc->lock);
}

/*
 * Returns a value in the format that register B chooses, binary or BCD. Encodes only the last two decimal digits of `value`,
 * because a guest can write a century of three digits in binary.
 */
static uint8_t encode(const struct rtc *rtc, int value)
{
	unsigned digits = (unsigned)value % 100;

	return (uint8_t)(rtc->ram[REG_B] & B_BINARY ? digits : digits / 10 << 4 | digits % 10);
}

static int decode(const struct rtc *rtc, uint8_t value)
{
	return rtc->ram[REG_B] & B_BINARY ? value : (value >> 4) * 10 + (value & 15);
}

static uint8_t encode_hour(const struct rtc *rtc, int hour)
{
	if (rtc->ram[REG_B] & B_24H)
		return encode(rtc, hour);
	return encode(rtc, hour % 12 ? hour % 12 : 12) | (hour >= 12 ? HOUR_PM : 0);
}

static int decode_hour(const struct rtc *rtc, uint8_t value)
{
	if (rtc->ram[REG_B] & B_24H)
		return decode(rtc, value);
	return decode(rtc, value & ~HOUR_PM & 0xff) % 12 + (value & HOUR_PM ? 12 : 0);
}

/* Write the time registers for the guest's time `now`. */
static void fill_time(const struct rtc *rtc, time_t now, uint8_t regs[128])
{
	struct tm tm = {0};

	gmtime_r(&now, &tm);
	regs[SECONDS] = encode(rtc, tm.tm_sec);
	regs[MINUTES] = encode(rtc, tm.tm_min);
	regs[HOURS] = encode_hour(rtc, tm.tm_hour);
	regs[WEEKDAY] = encode(rtc, tm.tm_wday + 1);
	regs[DAY] = encode(rtc, tm.tm_mday);
	regs[MONTH] = encode(rtc, tm.tm_mon + 1);
	regs[YEAR] = encode(rtc, tm.tm_year % 100);
	regs[CENTURY] = encode(rtc, (tm.tm_year + 1900) / 100);
}

static bool is_time(unsigned index)
{
	return index == CENTURY || (index <= YEAR && index != SECONDS_ALARM && index != MINUTES_ALARM && index != HOURS_ALARM);
}

/*
 * Change the clock's offset so that the clock shows the time in the registers. Invalid values are harmless, because timegm()
 * normalizes them.
 */
static void take_time(struct rtc *rtc, time_t host_time)
{
	const uint8_t *r = rtc->ram;
	struct tm tm = {
		.tm_sec = decode(rtc, r[SECONDS]),
		.tm_min = decode(rtc, r[MINUTES]),
		.tm_hour = decode_hour(rtc, r[HOURS]),
		.tm_mday = decode(rtc, r[DAY]),
		.tm_mon = decode(rtc, r[MONTH]) - 1,
		.tm_year = decode(rtc, r[CENTURY]) * 100 + decode(rtc, r[YEAR]) - 1900,
	};

	rtc->offset = timegm(&tm) - host_time;
}

static void update_irq(struct rtc *rtc)
{
	bool level = rtc->ram[REG_C] & rtc->ram[REG_B] & (B_ALARM | B_UPDATE);

	if (level)
		rtc->ram[REG_C] |= C_IRQ;
	if (level == rtc->irq_level)
		return;
	rtc->irq_level = level;
	irq_set(&rtc->irq, level);
}

static uint8_t read_data(struct rtc *rtc)
{
	uint8_t now[128], value = rtc->ram[rtc->index];

	if (is_time(rtc->index) && !(rtc->ram[REG_B] & B_SET)) {
		fill_time(rtc, time(NULL) + rtc->offset, now);
		return now[rtc->index];
	}
	if (rtc->index == REG_C) {
		rtc->ram[REG_C] = 0; /* reading register C acknowledges the interrupts */
		update_irq(rtc);
	}
	return value;
}

static void write_reg_b(struct rtc *rtc, uint8_t value)
{
	bool was_set = rtc->ram[REG_B] & B_SET;

	if (!was_set && (value & B_SET))
		fill_time(rtc, time(NULL) + rtc->offset, rtc->ram);
	if (was_set && !(value & B_SET))
		take_time(rtc, time(NULL));
	rtc->ram[REG_B] = value;
	update_irq(rtc);
}

static void write_data(struct rtc *rtc, uint8_t value)
{
	bool was_set = rtc->ram[REG_B] & B_SET;

	switch (rtc->index) {
	case REG_A:
		rtc->ram[REG_A] = value & ~A_UIP & 0xff;
		break;
	case REG_B:
		write_reg_b(rtc, value);
		break;
	case REG_C:
	case REG_D:
		break;
	default:
		if (is_time(rtc->index) && !was_set)
			fill_time(rtc, time(NULL) + rtc->offset, rtc->ram);
		rtc->ram[rtc->index] = value;
		if (is_time(rtc->index) && !was_set)
			take_time(rtc, time(NULL));
		break;
	}
}

static uint64_t rtc_read(void *dev, uint64_t offset, unsigned size)
{
	struct rtc *rtc = dev;
	uint32_t value = 0xff;

	pthread_mutex_lock(&rtc->lock);
	if (offset == 1)
		value = read_data(rtc);
	else if (size == 2)
		value = 0xff | (uint32_t)read_data(rtc) << 8; /* the index port is write-only */
	pthread_mutex_unlock(&rtc->lock);
	return value;
}

static void rtc_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct rtc *rtc = dev;

	pthread_mutex_lock(&rtc->lock);
	if (offset == 0) {
		rtc->index = value & 0x7f; /* bit 7 is not part of the index: on a PC it masks NMIs */
		if (size == 2)
			write_data(rtc, (uint8_t)(value >> 8));
	} else {
		write_data(rtc, (uint8_t)value);
	}
	pthread_mutex_unlock(&rtc->lock);
}

const struct bus_ops rtc_ops = {.read = rtc_read, .write = rtc_write};

static bool alarm_matches(uint8_t alarm, uint8_t now)
{
	return (alarm & ALARM_ANY) == ALARM_ANY || alarm == now;
}

void rtc_tick(struct rtc *rtc, time_t host_time)
{
	uint8_t now[128];

	pthread_mutex_lock(&rtc->lock);
	if (!(rtc->ram[REG_B] & B_SET)) {
		fill_time(rtc, host_time + rtc->offset, now);
		rtc->ram[REG_C] |= C_UPDATE;
		if (alarm_matches(rtc->ram[SECONDS_ALARM], now[SECONDS]) &&
		    alarm_matches(rtc->ram[MINUTES_ALARM], now[MINUTES]) && alarm_matches(rtc->ram[HOURS_ALARM], now[HOURS]))
			rtc->ram[REG_C] |= C_ALARM;
		update_irq(rtc);
	}
	pthread_mutex_unlock(&rtc->lock);
}

/* ---- snapshots ---- */

/*
 * A limit in seconds for the offset of a saved clock. A guest cannot move the clock so far, because the registers have two
 * digits for the year and two for the century.
 */
#define OFFSET_MAX (INT64_C(1) << 40)

void rtc_save(struct rtc *rtc, struct rtc_state *out)
{
	pthread_mutex_lock(&rtc->lock);
	*out = (struct rtc_state){.offset = rtc->offset, .index = rtc->index, .irq_level = rtc->irq_level};
	memcpy(out->ram, rtc->ram, sizeof(out->ram));
	pthread_mutex_unlock(&rtc->lock);
}

bool rtc_load(struct rtc *rtc, const struct rtc_state *state)
{
	if (state->offset > OFFSET_MAX || state->offset < -OFFSET_MAX || state->index >= sizeof(rtc->ram) ||
	    state->irq_level > 1)
		return false;
	rtc->offset = state->offset;
	rtc->index = state->index;
	rtc->irq_level = state->irq_level;
	memcpy(rtc->ram, state->ram, sizeof(rtc->ram));
	return true;
}
