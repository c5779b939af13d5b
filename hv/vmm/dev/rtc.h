/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MC146818 real-time clock and its 128 bytes of CMOS memory: the host's time (UTC) plus what the guest set it off by,
 * alarm and update-ended interrupts at one-second resolution. The periodic interrupt is not generated: Linux does not use it.
 */
#ifndef OUTRIDER_VMM_DEV_RTC_H
#define OUTRIDER_VMM_DEV_RTC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "hv/vmm/dev/bus.h"
#include "hv/vmm/dev/lines.h"

#define RTC_LEN 2 /* ports from RTC_PORT */

struct rtc {
	pthread_mutex_t lock;
	struct irq_line irq;
	uint8_t index;
	uint8_t ram[128]; /* the time registers in here count only while the clock is stopped (register B, SET) */
	int64_t offset;	  /* guest time - host time, seconds */
	bool irq_level;
};

extern const struct bus_ops rtc_ops;

void rtc_init(struct rtc *rtc, const struct irq_line *irq);
void rtc_destroy(struct rtc *rtc);

/* The second `host_time` (time(2)) has begun: update-ended and alarm interrupts. To be called once a second. */
void rtc_tick(struct rtc *rtc, time_t host_time);

#endif
