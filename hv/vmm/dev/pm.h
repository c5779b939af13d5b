/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ACPI fixed hardware (ACPI 6.4, chapter 4.8.3): PM1 status/enable/control, with S5 and the power button, and the PM timer.
 * SLP_TYP of S5 is 5, as dsdt.asl's \_S5 says.
 */
#ifndef OUTRIDER_VMM_DEV_PM_H
#define OUTRIDER_VMM_DEV_PM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/dev/bus.h"
#include "hv/vmm/dev/lines.h"

#define PM_LEN 12 /* ports from PM_PORT */

struct pm {
	pthread_mutex_t lock;
	struct irq_line sci;
	struct power_line power;
	uint16_t status, enable, control;
	bool sci_level;
};

extern const struct bus_ops pm_ops;

void pm_init(struct pm *pm, const struct irq_line *sci, const struct power_line *power);
void pm_destroy(struct pm *pm);

#endif
