/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ACPI fixed hardware (ACPI 6.4, chapter 4.8.3): the PM1 status, enable and control registers, with S5 (power off) and the
 * bits of a power button; and the PM timer. The SLP_TYP of S5 is 5, as \_S5 in dsdt.asl says.
 */
#ifndef OUTRIDER_VMM_PLATFORM_PM_H
#define OUTRIDER_VMM_PLATFORM_PM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/bus/bus.h"
#include "hv/vmm/bus/lines.h"

#define PM_LEN 12 /* number of ports from PM_PORT on */

struct pm {
	pthread_mutex_t lock;
	struct irq_line sci; /* the ACPI interrupt */
	struct power_line power;
	uint16_t status, enable, control; /* the PM1 registers */
	bool sci_level;			  /* the level that `sci` was last set to */
	uint32_t timer_offset;		  /* PM timer minus the host's clock, in ticks of the timer */
};

/* The state that a guest can see. */
struct pm_state {
	uint16_t status, enable, control, sci_level;
	uint32_t timer;
};

extern const struct bus_ops pm_ops;

void pm_init(struct pm *pm, const struct irq_line *sci, const struct power_line *power);
void pm_destroy(struct pm *pm);

/*
 * Save the registers; load them before the machine runs. Saving stores the PM timer's value at `now_ns` on CLOCK_MONOTONIC.
 * After loading, the timer has that value at the `now_ns` of the load, and runs on. Loading does not drive the interrupt line,
 * because the interrupt controller's own saved state has the line's level. Loading returns false, and changes nothing, if no
 * machine can be in this state.
 */
void pm_save(struct pm *pm, uint64_t now_ns, struct pm_state *out);
bool pm_load(struct pm *pm, uint64_t now_ns, const struct pm_state *state);

#endif
