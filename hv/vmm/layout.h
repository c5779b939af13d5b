/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where everything is in the machine: guest-physical addresses, ports and interrupt lines. The devices, the ACPI tables, the
 * boot protocols and dsdt.asl must agree on these; dsdt.asl repeats the ports and lines it describes.
 */
#ifndef OUTRIDER_VMM_LAYOUT_H
#define OUTRIDER_VMM_LAYOUT_H

#define KIB(n) ((n)*1024ull)
#define MIB(n) KIB((n)*1024ull)
#define GIB(n) MIB((n)*1024ull)

/* RAM is [0, 3 GiB) and [4 GiB, ...): the hole holds the local and I/O APIC and what KVM needs for itself. */
#define RAM_HOLE_START GIB(3)
#define RAM_HOLE_END GIB(4)
#define KVM_IDENTITY_MAP_GPA 0xfffbc000ull /* one page, then the three of KVM_SET_TSS_ADDR */
#define KVM_TSS_GPA 0xfffbd000ull
#define IOAPIC_GPA 0xfec00000u
#define LAPIC_GPA 0xfee00000u

/* What the boot protocols read, in conventional memory: the kernel copies it before it reuses the pages. */
#define BOOT_GDT_GPA 0x500ull
#define BOOT_START_INFO_GPA 0x6000ull /* PVH: hvm_start_info, memory map and module list in one page */
#define BOOT_PARAMS_GPA 0x7000ull
#define BOOT_PAGE_TABLES_GPA 0x9000ull /* PML4, PDPT and four page directories */
#define BOOT_STACK_GPA 0x1fff0ull
#define BOOT_CMDLINE_GPA 0x20000ull
#define BOOT_CMDLINE_MAX KIB(64)
#define EBDA_GPA 0x9fc00ull
#define EBDA_END_GPA 0xa0000ull
#define ACPI_GPA 0xe0000ull /* inside the area an RSDP is searched in */
#define ACPI_MAX KIB(64)
#define BIOS_END_GPA 0x100000ull

/* Ports. */
#define SERIAL_PORT 0x3f8
#define RTC_PORT 0x70
#define I8042_DATA_PORT 0x60
#define I8042_COMMAND_PORT 0x64
#define PVPANIC_PORT 0x505
#define PM_PORT 0x600 /* +0 PM1 status and enable, +4 PM1 control, +8 PM timer */
#define PCI_PORT 0xcf8
#define RESET_PORT 0xcf9

/* Interrupt lines: ISA line, I/O APIC pin and KVM's GSI are one number here. */
#define SERIAL_GSI 4
#define RTC_GSI 8
#define SCI_GSI 9

#endif
