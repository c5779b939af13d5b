/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One function on the PCI bus: its configuration space with a type 0 header (PCI Local Bus 3.0, chapter 6), its capability
 * list, and its memory BARs. How the guest reaches it, and where it is plugged in, is pci.h's.
 *
 * The guest may write any register at any time. A register has the bits that a write changes (`writable`); others keep their
 * value. Sizing a BAR follows from that alone: its low bits are not writable.
 *
 * A BAR is decoded while the command register's Memory Space bit is set and the BAR's range lies in the window [PCI_WINDOW_GPA,
 * PCI_WINDOW_END_GPA) as a whole without overlapping another range. Otherwise nothing answers at its address.
 *
 * Locking: pci.lock is held around each call here once the function is plugged in.
 */
#ifndef OUTRIDER_VMM_DEV_PCI_FUNCTION_H
#define OUTRIDER_VMM_DEV_PCI_FUNCTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/dev/bus.h"

#define PCI_CONFIG_LEN 256
#define PCI_BARS 6

/* Bits of the command register. */
enum { PCI_COMMAND_MEMORY = 1 << 1, PCI_COMMAND_MASTER = 1 << 2, PCI_COMMAND_NO_INTX = 1 << 10 };

/*
 * What the PCI bus needs of the host for interrupts by message and for notifications without an exit. KVM implements it
 * (hv/vmm/kvm_lines.h).
 */
struct pci_host {
	void *ctx;
	/*
	 * Make a message-signalled interrupt. Returns an eventfd: a write to it sends the message that msi_route() has set
	 * for *gsi. Returns -1 with `err` set when it cannot be made.
	 */
	int (*msi_open)(void *ctx, unsigned *gsi, struct err *err);
	/* Set the message: `data` is written to the GPA `address`, which is that of a local APIC. */
	void (*msi_route)(void *ctx, unsigned gsi, uint64_t address, uint32_t data);
	/* Undo msi_open(). */
	void (*msi_close)(void *ctx, unsigned gsi, int fd);
	/*
	 * From now on (`on`) or no longer, a guest's write to the GPA makes `fd` readable instead of a KVM exit. Returns false
	 * when that cannot be done: writes then come to the bus, as before.
	 */
	bool (*doorbell)(void *ctx, uint64_t gpa, int fd, bool on);
};

/* What the owner of a function is told. Each member may be NULL. pci.lock is held. */
struct pci_ops {
	/* The guest is about to read `len` bytes at `offset`: update fn->config where it is computed. */
	void (*config_read)(void *ctx, unsigned offset, unsigned len);
	/* The guest has written there. fn->config has the new values. */
	void (*config_written)(void *ctx, unsigned offset, unsigned len);
	/* The BAR is decoded at the GPA now, or (`gpa` 0) nowhere. */
	void (*bar_moved)(void *ctx, unsigned bar, uint64_t gpa);
};

struct pci_bar {
	uint64_t len; /* bytes, a power of two of at least 16; 0: there is no such BAR */
	bool wide;    /* a 64-bit BAR, which takes the next one's register, too */
	const struct bus_ops *ops;
	void *dev;
	uint64_t gpa; /* where it is decoded now; 0: nowhere */
};

struct pci_function {
	const struct pci_ops *ops;
	void *ctx; /* first argument of `ops` */
	struct pci *pci;
	unsigned slot;
	uint8_t config[PCI_CONFIG_LEN];
	uint8_t writable[PCI_CONFIG_LEN];
	unsigned last_capability; /* offset of the last one; 0: the list is empty */
	unsigned free;		  /* where the next capability goes */
	struct pci_bar bar[PCI_BARS];
	_Atomic(uint16_t) command; /* the command register, for threads that do not hold pci.lock */
	bool intx;		   /* the level that the owner drives INTA# to; guarded by pci.irq_lock */
};

struct pci_id {
	uint16_t vendor, device;
	uint16_t subsystem_vendor, subsystem;
	uint32_t class; /* class code, subclass and interface: 0x010000 is a storage controller */
	uint8_t revision;
	bool intx; /* the function has INTA# */
};

/* Make a function without BARs and capabilities. */
void pci_function_init(struct pci_function *fn, const struct pci_id *id, const struct pci_ops *ops, void *ctx);

/* Add a memory BAR, as struct pci_bar says. Before pci_plug() only. */
void pci_function_bar(struct pci_function *fn, unsigned bar, uint64_t len, bool wide, const struct bus_ops *ops, void *dev);

/*
 * Append a capability with the id `id` and `len` bytes of `body`, which follow the two bytes of its header. Returns its offset
 * in configuration space, which is a multiple of 4. No bit of it is writable yet. Before pci_plug() only, and there must be
 * room: what a function has is fixed when it is written.
 */
unsigned pci_function_capability(struct pci_function *fn, uint8_t id, const void *body, size_t len);

/* The first address of a BAR as its register says, whether it is decoded or not. */
uint64_t pci_function_bar_gpa(const struct pci_function *fn, unsigned bar);

/* Set the register of a BAR. */
void pci_function_place_bar(struct pci_function *fn, unsigned bar, uint64_t gpa);

/* The guest reads or writes `size` (1, 2 or 4) bytes at `offset`; offset + size is at most PCI_CONFIG_LEN. */
uint32_t pci_function_read(struct pci_function *fn, unsigned offset, unsigned size);
void pci_function_write(struct pci_function *fn, unsigned offset, unsigned size, uint32_t value);

/* Set all bits that a guest can write to those of `config`, and tell nobody. */
void pci_function_put(struct pci_function *fn, const uint8_t config[PCI_CONFIG_LEN]);

/* Decode the BARs where the registers say. */
void pci_function_map(struct pci_function *fn, struct bus *bus);

#endif
