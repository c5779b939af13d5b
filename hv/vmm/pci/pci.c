/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCI bus: its slots, the addresses of BARs, the interrupt lines INTA#, and configuration space, which the guest accesses
 * by ports or in memory (ECAM).
 */
#include "hv/vmm/pci/pci.h"

#include <string.h>

#include "hv/vmm/layout.h"

enum { OFF_ADDRESS = 0, OFF_RESET = 1, OFF_DATA = 4 };

#define ADDRESS_ENABLE (1u << 31)
#define ADDRESS_MASK 0x80fffffcu
#define RESET_CPU 4 /* the machine is reset when this bit goes from 0 to 1 */

#define COMMAND_OFFSET 4
#define STATUS_OFFSET 6
#define STATUS_INTX 8 /* Interrupt Status */

/*
 * The bus has a host bridge, because Linux refuses configuration mechanism 1 if bus 0 has none (pci_sanity_check() in
 * arch/x86/pci/direct.c). This is Red Hat's generic host bridge, for which Linux has no driver.
 */
static const struct pci_id bridge_id = {
	.vendor = 0x1b36,
	.device = 0x0008,
	.subsystem_vendor = 0x1af4,
	.subsystem = 0x1100,
	.class = 0x060000,
};
static const struct pci_ops bridge_ops;

void pci_init(struct pci *pci, struct bus *bus, const struct power_line *power, const struct irq_line *irq,
	      const struct pci_host *host)
{
	memset(pci, 0, sizeof(*pci));
	pthread_mutex_init(&pci->lock, NULL);
	pthread_mutex_init(&pci->irq_lock, NULL);
	pci->power = *power;
	pci->irq = *irq;
	pci->bus = bus;
	pci->host = *host;
	pci->next_gpa = PCI_WINDOW_GPA;
	pci_function_init(&pci->bridge, &bridge_id, &bridge_ops, NULL);
	pci->bridge.pci = pci;
	pci->slot[0] = &pci->bridge;
}

void pci_destroy(struct pci *pci)
{
	pthread_mutex_destroy(&pci->lock);
	pthread_mutex_destroy(&pci->irq_lock);
}

/* ---- adding functions ---- */

/* Choose an address for the BAR, aligned to the BAR's size. */
static int place_bar(struct pci *pci, struct pci_function *fn, unsigned bar, struct err *err)
{
	uint64_t len = fn->bar[bar].len, gpa = (pci->next_gpa + len - 1) & ~(len - 1);

	if (gpa > PCI_WINDOW_END_GPA || len > PCI_WINDOW_END_GPA - gpa)
		return err_set(err, EXIT_INTERNAL, "no room for %llu bytes of a PCI device's registers",
			       (unsigned long long)len);
	pci_function_place_bar(fn, bar, gpa);
	pci->next_gpa = gpa + len;
	return 0;
}

int pci_plug(struct pci *pci, struct pci_function *fn, struct err *err)
{
	unsigned slot = 1;
	int ret = 0;

	pthread_mutex_lock(&pci->lock);
	while (slot < PCI_SLOTS && pci->slot[slot])
		slot++;
	if (slot == PCI_SLOTS)
		ret = err_set(err, EXIT_USAGE, "too many devices: the PCI bus takes %d", PCI_SLOTS - 1);
	for (unsigned i = 0; i < PCI_BARS && !ret; i++)
		if (fn->bar[i].len)
			ret = place_bar(pci, fn, i, err);
	if (!ret) {
		fn->pci = pci;
		fn->slot = slot;
		pci->slot[slot] = fn;
		pci_function_write(fn, COMMAND_OFFSET, 2, PCI_COMMAND_MEMORY);
		pci_function_map(fn, pci->bus);
	}
	pthread_mutex_unlock(&pci->lock);
	return ret;
}

/* ---- INTA# ---- */

/*
 * Drive the GSI of the function's INTA#, unless Interrupt Disable is set in the command register. (Interrupt Status, in the
 * status register, shows fn->intx in any case.) Called with pci.irq_lock held.
 */
static void drive(struct pci *pci, struct pci_function *fn)
{
	unsigned pin = (fn->slot - 1) % PCI_GSI_COUNT;
	bool level = fn->intx && !(fn->command & PCI_COMMAND_NO_INTX);
	uint32_t before = pci->raised[pin], bit = 1u << fn->slot;

	pci->raised[pin] = level ? before | bit : before & ~bit;
	if (!before != !pci->raised[pin])
		pci->irq.set(pci->irq.ctx, PCI_GSI_FIRST + pin, pci->raised[pin]);
}

void pci_intx(struct pci_function *fn, bool level)
{
	pthread_mutex_lock(&fn->pci->irq_lock);
	fn->intx = level;
	drive(fn->pci, fn);
	pthread_mutex_unlock(&fn->pci->irq_lock);
}

/* ---- configuration space ---- */

/* Returns the function at this address, or NULL. Only function 0 of the slots of bus 0 exists. Called with pci.lock held. */
static struct pci_function *find(const struct pci *pci, unsigned bus, unsigned slot, unsigned function)
{
	return bus || function ? NULL : pci->slot[slot];
}

/*
 * Read registers of a function. The registers from PCI_CONFIG_LEN on read as 0, which means an empty list of extended
 * capabilities.
 */
static uint32_t read_config(struct pci *pci, struct pci_function *fn, unsigned offset, unsigned size)
{
	uint32_t value;

	if (!fn)
		return 0xffffffff;
	if (offset >= PCI_CONFIG_LEN)
		return 0;
	value = pci_function_read(fn, offset, size);
	if (offset <= STATUS_OFFSET && offset + size > STATUS_OFFSET) {
		pthread_mutex_lock(&pci->irq_lock);
		value |= (uint32_t)(fn->intx ? STATUS_INTX : 0) << 8 * (STATUS_OFFSET - offset);
		pthread_mutex_unlock(&pci->irq_lock);
	}
	return value;
}

static void write_config(struct pci *pci, struct pci_function *fn, unsigned offset, unsigned size, uint32_t value)
{
	if (!fn || offset >= PCI_CONFIG_LEN)
		return;
	pci_function_write(fn, offset, size, value);
	pci_function_map(fn, pci->bus);
	if (fn->slot) {
		pthread_mutex_lock(&pci->irq_lock);
		drive(pci, fn);
		pthread_mutex_unlock(&pci->irq_lock);
	}
}

/* ---- configuration space in memory (ECAM): only accesses to whole, aligned registers are defined ---- */

static struct pci_function *find_ecam(const struct pci *pci, uint64_t offset)
{
	return find(pci, 0, offset >> 15 & 31, offset >> 12 & 7);
}

static uint64_t ecam_read(void *dev, uint64_t offset, unsigned size)
{
	struct pci *pci = dev;
	uint64_t value = UINT64_MAX;

	if (size > 4 || offset % size)
		return value;
	pthread_mutex_lock(&pci->lock);
	value = read_config(pci, find_ecam(pci, offset), offset & 0xfff, size);
	pthread_mutex_unlock(&pci->lock);
	return value;
}

static void ecam_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct pci *pci = dev;

	if (size > 4 || offset % size)
		return;
	pthread_mutex_lock(&pci->lock);
	write_config(pci, find_ecam(pci, offset), offset & 0xfff, size, (uint32_t)value);
	pthread_mutex_unlock(&pci->lock);
}

const struct bus_ops pci_ecam_ops = {.read = ecam_read, .write = ecam_write};

/* ---- mechanism 1 ---- */

static struct pci_function *addressed(const struct pci *pci)
{
	if (!(pci->address & ADDRESS_ENABLE))
		return NULL;
	return find(pci, pci->address >> 16 & 255, pci->address >> 11 & 31, pci->address >> 8 & 7);
}

static unsigned register_of(const struct pci *pci, uint64_t port_offset)
{
	return (pci->address & 0xfc) + (unsigned)(port_offset - OFF_DATA);
}

static uint64_t pci_read(void *dev, uint64_t offset, unsigned size)
{
	struct pci *pci = dev;
	uint32_t value = 0xffffffff;

	pthread_mutex_lock(&pci->lock);
	if (offset >= OFF_DATA)
		value = read_config(pci, addressed(pci), register_of(pci, offset), size);
	else if (offset == OFF_ADDRESS && size == 4)
		value = pci->address;
	else if (offset == OFF_RESET && size == 1)
		value = pci->reset;
	pthread_mutex_unlock(&pci->lock);
	return value;
}

static void pci_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct pci *pci = dev;
	bool reset = false;

	pthread_mutex_lock(&pci->lock);
	if (offset >= OFF_DATA) {
		write_config(pci, addressed(pci), register_of(pci, offset), size, (uint32_t)value);
	} else if (offset == OFF_ADDRESS && size == 4) {
		pci->address = (uint32_t)value & ADDRESS_MASK;
	} else if (offset == OFF_RESET && size == 1) {
		reset = value & ~pci->reset & RESET_CPU;
		pci->reset = (uint8_t)value;
	}
	pthread_mutex_unlock(&pci->lock);
	if (reset)
		power_end(&pci->power, VM_END_REBOOT, "reset register");
}

const struct bus_ops pci_ops = {.read = pci_read, .write = pci_write};

/* ---- snapshots ---- */

void pci_save(struct pci *pci, struct pci_state *out)
{
	pthread_mutex_lock(&pci->lock);
	*out = (struct pci_state){.address = pci->address, .reset = pci->reset};
	pthread_mutex_unlock(&pci->lock);
}

void pci_load(struct pci *pci, const struct pci_state *state)
{
	pci->address = state->address & ADDRESS_MASK;
	pci->reset = state->reset;
}

void pci_function_save(struct pci *pci, unsigned slot, uint8_t config[PCI_CONFIG_LEN], bool *intx)
{
	pthread_mutex_lock(&pci->lock);
	memcpy(config, pci->slot[slot]->config, PCI_CONFIG_LEN);
	pthread_mutex_unlock(&pci->lock);
	pthread_mutex_lock(&pci->irq_lock);
	*intx = pci->slot[slot]->intx;
	pthread_mutex_unlock(&pci->irq_lock);
}

/* Set only the bus's record of the line's level, because the interrupt controller's saved state already has this level. */
static void load_intx(struct pci *pci, struct pci_function *fn, bool intx)
{
	fn->intx = intx;
	if (fn->slot && intx && !(fn->command & PCI_COMMAND_NO_INTX))
		pci->raised[(fn->slot - 1) % PCI_GSI_COUNT] |= 1u << fn->slot;
}

void pci_function_load(struct pci *pci, unsigned slot, const uint8_t config[PCI_CONFIG_LEN], bool intx)
{
	struct pci_function *fn = pci->slot[slot];

	pthread_mutex_lock(&pci->lock);
	pci_function_put(fn, config);
	pci_function_map(fn, pci->bus);
	pthread_mutex_unlock(&pci->lock);
	pthread_mutex_lock(&pci->irq_lock);
	load_intx(pci, fn, intx);
	pthread_mutex_unlock(&pci->irq_lock);
}
