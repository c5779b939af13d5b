/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MC146818 real-time clock and its 128 bytes of CMOS memory. The clock shows the host's time (UTC) plus an offset, which
 * changes when the guest sets the clock. Alarm and update-ended interrupts have a resolution of one second. There is no
 * periodic interrupt, because Linux does not use it.
 */
#ifndef OUTRIDER_VMM_PLATFORM_RTC_H
#define OUTRIDER_VMM_PLATFORM_RTC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "hv/vmm/bus/bus.h"
#include "hv/vmm/bus/lines.h"

#define RTC_LEN 2 /* number of ports from RTC_PORT on */

struct rtc {
	pthread_mutex_t lock;
	struct irq_line irq;
	uint8_t index;	  /* offset in `ram` that the data port accesses */
	uint8_t ram[128]; /* the registers; the time registers are valid only while the clock is stopped (SET in register B) */
	int64_t offset;	  /* guest time minus host time in seconds */
	bool irq_level;	  /* the level that `irq` was last set to */
};

/* The state that a guest can see. */
struct rtc_state {
	int64_t offset; /* as in struct rtc */
	uint8_t ram[128];
	uint8_t index, irq_level;
	uint8_t unused[6]; /* 0 */
};

extern const struct bus_ops rtc_ops;

void rtc_init(struct rtc *rtc, const struct irq_line *irq);
void rtc_destroy(struct rtc *rtc);

/*
 * Raise the update-ended and alarm interrupts that are due at `host_time`, in seconds as time(2) returns. To be called once a
 * second, on any thread.
 */
void rtc_tick(struct rtc *rtc, time_t host_time);

/*
 * Save the registers; load them into a clock before its machine runs. Loading does not drive the interrupt line, because the
 * interrupt controller's own saved state has the line's level. Loading returns false, and changes nothing, if no clock can be
 * in this state.
 */
void rtc_save(struct rtc *rtc, struct rtc_state *out);
bool rtc_load(struct rtc *rtc, const struct rtc_state *state);

#endif
