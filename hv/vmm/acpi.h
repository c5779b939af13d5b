/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the ACPI tables (ACPI 6.4, chapter 5): RSDP, XSDT, FADT, FACS, MADT, MCFG, and the DSDT that iasl compiled from
 * dsdt.asl. The builder only writes bytes into a buffer.
 */
#ifndef OUTRIDER_VMM_ACPI_H
#define OUTRIDER_VMM_ACPI_H

#include <stddef.h>
#include <stdint.h>

/*
 * Write the tables of a machine with `cpus` CPUs into the `cap` bytes at `buf`, which the guest sees at the GPA `gpa` (64-byte
 * aligned, and below 4 GiB). The RSDP comes first, at `gpa` itself. Returns the number of bytes used, or 0 when `cap` is too
 * small.
 */
size_t acpi_build(uint8_t *buf, size_t cap, uint64_t gpa, unsigned cpus);

#endif
