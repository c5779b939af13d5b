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
					0, 0xC0000000, 0xFEBFFFFF, 0, 0x3EC00000)
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
