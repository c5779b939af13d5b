/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's guest-physical addresses (GPA), ports and interrupt lines. The devices, the ACPI tables, the boot protocols and
 * dsdt.asl must agree on these numbers. dsdt.asl repeats the ports and the interrupt lines of the devices that it describes.
 */
#ifndef OUTRIDER_VMM_LAYOUT_H
#define OUTRIDER_VMM_LAYOUT_H

#define KIB(n) ((n)*1024ull)
#define MIB(n) KIB((n)*1024ull)
#define GIB(n) MIB((n)*1024ull)

/* RAM is [0, 3 GiB) and [4 GiB, ...). The hole holds the local APIC, the I/O APIC and the pages that KVM needs for itself. */
#define RAM_HOLE_START GIB(3)
#define RAM_HOLE_END GIB(4)
/* one page for KVM_SET_IDENTITY_MAP_ADDR, followed by three pages for KVM_SET_TSS_ADDR */
#define KVM_IDENTITY_MAP_GPA 0xfffbc000ull
#define KVM_TSS_GPA 0xfffbd000ull
#define IOAPIC_GPA 0xfec00000u
#define PCI_WINDOW_GPA 0xc0000000ull /* the window for PCI memory BARs, as in the host bridge's _CRS in dsdt.asl */
#define PCI_WINDOW_END_GPA 0xe0000000ull
#define PCI_ECAM_GPA 0xe0000000ull /* configuration space of bus 0 (MMCONFIG), 4 KiB for each function */
#define PCI_ECAM_LEN MIB(1)
#define MARK_GPA 0xf0000000u /* the registers of the mark device (platform/mark.h), one page; only with `outrider explore` */
#define LAPIC_GPA 0xfee00000u

/*
 * The data that the boot protocols pass to the kernel are in conventional memory. The kernel copies these data before it reuses
 * the pages.
 */
#define BOOT_GDT_GPA 0x500ull
#define BOOT_START_INFO_GPA 0x6000ull /* PVH: hvm_start_info, memory map and module list in one page */
#define BOOT_PARAMS_GPA 0x7000ull
#define BOOT_PAGE_TABLES_GPA 0x9000ull /* PML4, PDPT and four page directories */
#define BOOT_STACK_GPA 0x1fff0ull
#define BOOT_CMDLINE_GPA 0x20000ull
#define BOOT_CMDLINE_MAX KIB(64)
#define EBDA_GPA 0x9fc00ull
#define EBDA_END_GPA 0xa0000ull
#define ACPI_GPA 0xe0000ull /* inside the area in which a kernel searches for the RSDP */
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

/* Interrupt lines. The ISA line, the I/O APIC's pin and KVM's GSI have the same number in this machine. */
#define SERIAL_GSI 4
#define RTC_GSI 8
#define SCI_GSI 9
#define PCI_GSI_FIRST 16 /* INTA# of PCI slot n is the GSI PCI_GSI_FIRST + (n - 1) % PCI_GSI_COUNT */
#define PCI_GSI_COUNT 8
#define GSI_COUNT 24 /* number of pins of the I/O APIC; the GSIs from 24 on are messages (MSI-X) */

#endif
