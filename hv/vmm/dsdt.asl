// SPDX-License-Identifier: GPL-2.0-or-later
// The devices that a kernel cannot find by itself, and how the machine powers off. Ports and interrupt lines are those of layout.h.
DefinitionBlock ("dsdt.aml", "DSDT", 2, "OUTRDR", "OUTRIDER", 1)
{
	// Writing SLP_TYP 5 and SLP_EN to PM1_CNT powers the machine off (dev/pm.h).
	Name (\_S5, Package () { 5, 5, 0, 0 })

	Scope (\_SB)
	{
		Device (PCI0)
		{
			Name (_HID, EisaId ("PNP0A03"))
			Name (_UID, 0)
			Name (_BBN, 0)
			Name (_CRS, ResourceTemplate ()
			{
				WordBusNumber (ResourceProducer, MinFixed, MaxFixed, PosDecode,
					0, 0, 0, 0, 1)
				IO (Decode16, 0x0CF8, 0x0CF8, 1, 8)
				WordIO (ResourceProducer, MinFixed, MaxFixed, PosDecode, EntireRange,
					0, 0x1000, 0xFFFF, 0, 0xF000)
				DWordMemory (ResourceProducer, PosDecode, MinFixed, MaxFixed, NonCacheable, ReadWrite,
					0, 0xC0000000, 0xDFFFFFFF, 0, 0x20000000)
			})
			// INTA# of each slot (dev/pci.h).
			Name (_PRT, Package ()
			{
				Package () { 0x0001FFFF, 0, 0, 16 },
				Package () { 0x0002FFFF, 0, 0, 17 },
				Package () { 0x0003FFFF, 0, 0, 18 },
				Package () { 0x0004FFFF, 0, 0, 19 },
				Package () { 0x0005FFFF, 0, 0, 20 },
				Package () { 0x0006FFFF, 0, 0, 21 },
				Package () { 0x0007FFFF, 0, 0, 22 },
				Package () { 0x0008FFFF, 0, 0, 23 },
				Package () { 0x0009FFFF, 0, 0, 16 },
				Package () { 0x000AFFFF, 0, 0, 17 },
				Package () { 0x000BFFFF, 0, 0, 18 },
				Package () { 0x000CFFFF, 0, 0, 19 },
				Package () { 0x000DFFFF, 0, 0, 20 },
				Package () { 0x000EFFFF, 0, 0, 21 },
				Package () { 0x000FFFFF, 0, 0, 22 },
				Package () { 0x0010FFFF, 0, 0, 23 },
				Package () { 0x0011FFFF, 0, 0, 16 },
				Package () { 0x0012FFFF, 0, 0, 17 },
				Package () { 0x0013FFFF, 0, 0, 18 },
				Package () { 0x0014FFFF, 0, 0, 19 },
				Package () { 0x0015FFFF, 0, 0, 20 },
				Package () { 0x0016FFFF, 0, 0, 21 },
				Package () { 0x0017FFFF, 0, 0, 22 },
				Package () { 0x0018FFFF, 0, 0, 23 },
				Package () { 0x0019FFFF, 0, 0, 16 },
				Package () { 0x001AFFFF, 0, 0, 17 },
				Package () { 0x001BFFFF, 0, 0, 18 },
				Package () { 0x001CFFFF, 0, 0, 19 },
				Package () { 0x001DFFFF, 0, 0, 20 },
				Package () { 0x001EFFFF, 0, 0, 21 },
				Package () { 0x001FFFFF, 0, 0, 22 }
			})
		}

		// Configuration space in memory, which the MCFG table announces (dev/pci.h).
		Device (ECAM)
		{
			Name (_HID, EisaId ("PNP0C02"))
			Name (_CRS, ResourceTemplate ()
			{
				Memory32Fixed (ReadWrite, 0xE0000000, 0x00100000)
			})
		}

		Device (COM1)
		{
			Name (_HID, EisaId ("PNP0501"))
			Name (_UID, 1)
			Name (_CRS, ResourceTemplate ()
			{
				IO (Decode16, 0x03F8, 0x03F8, 1, 8)
				IRQNoFlags () { 4 }
			})
		}

		Device (RTC0)
		{
			Name (_HID, EisaId ("PNP0B00"))
			Name (_CRS, ResourceTemplate ()
			{
				IO (Decode16, 0x0070, 0x0070, 1, 2)
				IRQNoFlags () { 8 }
			})
		}

		Device (PEVT)
		{
			Name (_HID, "QEMU0001")
			Name (_CRS, ResourceTemplate ()
			{
				IO (Decode16, 0x0505, 0x0505, 1, 1)
			})
		}
	}
}
