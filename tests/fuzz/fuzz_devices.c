/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The devices on their bus. Each access of the input is six bytes: what to do, a port's two bytes, and up to three of a value.
 * The ports of the machine are hit more often than by chance.
 */
#include <fcntl.h>

#include "hv/vmm/layout.h"
#include "hv/vmm/machine.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/rig.h"

#define ACCESS 6

static void set_line(void *ctx, unsigned gsi, bool level)
{
	(void)ctx;
	(void)level;
	fuzz_require(gsi < 24);
}

static void end(void *ctx, enum vm_end how, const char *why)
{
	(void)ctx;
	(void)how;
	fuzz_require(why);
}

struct devices {
	struct bus bus;
	struct serial serial;
	struct pm pm;
	struct pci pci;
	struct rtc rtc;
	struct i8042 i8042;
	struct pvpanic pvpanic;
};

static const uint16_t bases[] = {SERIAL_PORT, PM_PORT, PCI_PORT, RTC_PORT, I8042_DATA_PORT, I8042_COMMAND_PORT, PVPANIC_PORT};

static void open_devices(struct devices *d, int out)
{
	const struct power_line power = {.end = end, .ctx = d};
	const struct irq_line serial = {.set = set_line, .gsi = SERIAL_GSI}, rtc = {.set = set_line, .gsi = RTC_GSI},
			      sci = {.set = set_line, .gsi = SCI_GSI};
	const struct bus_range ports[] = {
		{BUS_PORT, SERIAL_PORT, SERIAL_LEN, &serial_ops, &d->serial},
		{BUS_PORT, PM_PORT, PM_LEN, &pm_ops, &d->pm},
		{BUS_PORT, PCI_PORT, PCI_LEN, &pci_ops, &d->pci},
		{BUS_PORT, RTC_PORT, RTC_LEN, &rtc_ops, &d->rtc},
		{BUS_PORT, I8042_DATA_PORT, 1, &i8042_data_ops, &d->i8042},
		{BUS_PORT, I8042_COMMAND_PORT, 1, &i8042_command_ops, &d->i8042},
		{BUS_PORT, PVPANIC_PORT, 1, &pvpanic_ops, &d->pvpanic},
	};

	*d = (struct devices){.i8042.power = power, .pvpanic.power = power};
	bus_init(&d->bus);
	serial_init(&d->serial, out, &serial, NULL);
	rtc_init(&d->rtc, &rtc);
	pm_init(&d->pm, &sci, &power);
	pci_init(&d->pci, &d->bus, &power, &sci, &rig_host);
	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		fuzz_require(bus_add(&d->bus, &ports[i], NULL) == 0);
}

static void close_devices(struct devices *d)
{
	serial_destroy(&d->serial);
	rtc_destroy(&d->rtc);
	pm_destroy(&d->pm);
	pci_destroy(&d->pci);
	bus_destroy(&d->bus);
}

static void access_once(struct devices *d, const uint8_t *in)
{
	uint64_t port = (uint64_t)in[1] | (uint64_t)in[2] << 8;
	uint8_t data[8] = {in[3], in[4], in[5], in[3], in[4], in[5], in[3], in[4]};

	switch (in[0] & 3) {
	case 0:
		serial_input(&d->serial, data, 1 + in[1] % 8);
		break;
	case 1:
		rtc_tick(&d->rtc, (time_t)(port << 16));
		break;
	default:
		if (in[0] & 4)
			port = bases[in[1] % (sizeof(bases) / sizeof(bases[0]))] + in[2] % 8;
		/* An access to a port is of four bytes at most, as the CPU makes it. */
		if (in[0] & 8)
			bus_access(&d->bus, BUS_MMIO, port, in[0] & 1, 1 + (in[0] >> 4) % 8, data);
		else
			bus_access(&d->bus, BUS_PORT, port, in[0] & 1, 1 + (in[0] >> 4) % 4, data);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int out = -1;
	struct devices d;

	if (out < 0)
		out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fuzz_require(out >= 0);
	open_devices(&d, out);
	for (; size >= ACCESS; data += ACCESS, size -= ACCESS)
		access_once(&d, data);
	close_devices(&d);
	return 0;
}
