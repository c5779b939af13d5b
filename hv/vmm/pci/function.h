/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One function on the PCI bus: its configuration space with a type 0 header (PCI Local Bus 3.0, chapter 6), its capability
 * list, and its memory BARs. pci.h defines which slot the function gets, and how the guest reaches the function.
 *
 * The guest may write any register at any time. `writable` has the bits of each register that a write changes; all other bits
 * keep their value. This also implements sizing of a BAR: its low bits are not writable.
 *
 * A BAR is decoded while the command register's Memory Space bit is set and the BAR's whole range lies in the window
 * [PCI_WINDOW_GPA, PCI_WINDOW_END_GPA) without overlapping another range. Otherwise accesses to its address reach no device.
 *
 * Locking: callers hold pci.lock around each call once the function is plugged in.
 */
#ifndef OUTRIDER_VMM_PCI_FUNCTION_H
#define OUTRIDER_VMM_PCI_FUNCTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/vmm/bus/bus.h"

#define PCI_CONFIG_LEN 256
#define PCI_BARS 6

/* Bits of the command register. */
enum { PCI_COMMAND_MEMORY = 1 << 1, PCI_COMMAND_MASTER = 1 << 2, PCI_COMMAND_NO_INTX = 1 << 10 };

/*
 * The host functions that the PCI bus needs, for message-signalled interrupts and for notifications without an exit. KVM
 * implements them (hv/vmm/kvm_lines.h).
 */
struct pci_host {
	void *ctx;
	/*
	 * Make a message-signalled interrupt, and set *gsi to its GSI. Returns an eventfd, or -1 with `err` set. A write to the
	 * eventfd sends the message that msi_route() has set for the GSI.
	 */
	int (*msi_open)(void *ctx, unsigned *gsi, struct err *err);
	/* Set the message of the GSI: a write of `data` to the GPA `address`, which is the address of a local APIC. */
	void (*msi_route)(void *ctx, unsigned gsi, uint64_t address, uint32_t data);
	/* Undo msi_open(). */
	void (*msi_close)(void *ctx, unsigned gsi, int fd);
	/*
	 * If `on`, make each write of the guest to `gpa` signal the eventfd `fd` instead of causing a KVM exit; otherwise stop
	 * that. Returns false if KVM refuses: writes then still cause exits and reach the device through the bus.
	 */
	bool (*doorbell)(void *ctx, uint64_t gpa, int fd, bool on);
};

/* Callbacks to the owner of a function. Each member may be NULL. Called with pci.lock held. */
struct pci_ops {
	/*
	 * The guest is about to read `len` bytes at `offset`. The owner now updates the registers in fn->config that have
	 * computed values.
	 */
	void (*config_read)(void *ctx, unsigned offset, unsigned len);
	/* The guest has written `len` bytes at `offset`. fn->config has the new values. */
	void (*config_written)(void *ctx, unsigned offset, unsigned len);
	/* The BAR is now decoded at the GPA `gpa`. If `gpa` is 0, the BAR is not decoded any more. */
	void (*bar_moved)(void *ctx, unsigned bar, uint64_t gpa);
};

struct pci_bar {
	uint64_t len; /* bytes, a power of two of at least 16; 0: the function has no such BAR */
	bool wide;    /* a 64-bit BAR, which also takes the next BAR's register */
	const struct bus_ops *ops;
	void *dev;
	uint64_t gpa; /* GPA at which the BAR is decoded; 0: nowhere */
};

struct pci_function {
	const struct pci_ops *ops;
	void *ctx; /* first argument of `ops` */
	struct pci *pci;
	unsigned slot;
	uint8_t config[PCI_CONFIG_LEN];
	uint8_t writable[PCI_CONFIG_LEN];
	unsigned last_capability; /* offset of the last capability in the list; 0: the list is empty */
	unsigned free;		  /* offset for the next capability */
	struct pci_bar bar[PCI_BARS];
	_Atomic(uint16_t) command; /* the command register, for threads that do not hold pci.lock */
	bool intx;		   /* level to which the owner drives INTA#; guarded by pci.irq_lock */
};

struct pci_id {
	uint16_t vendor, device;
	uint16_t subsystem_vendor, subsystem;
	uint32_t class; /* class code, subclass and interface: 0x010000 is a storage controller */
	uint8_t revision;
	bool intx; /* the function has INTA# */
};

/* Initialise a function without BARs and capabilities. */
void pci_function_init(struct pci_function *fn, const struct pci_id *id, const struct pci_ops *ops, void *ctx);

/* Add a memory BAR with the members `len`, `wide`, `ops` and `dev` of struct pci_bar. To be called before pci_plug(). */
void pci_function_bar(struct pci_function *fn, unsigned bar, uint64_t len, bool wide, const struct bus_ops *ops, void *dev);

/*
 * Append a capability with the id `id` and `len` bytes of `body`, which follow the two bytes of its header. Returns its offset
 * in configuration space, which is a multiple of 4. The guest can write only those bits of the capability that the caller sets
 * in pci_function.writable afterwards. To be called before pci_plug(). Asserts that configuration space has room, because the
 * capabilities of each kind of device are constant.
 */
unsigned pci_function_capability(struct pci_function *fn, uint8_t id, const void *body, size_t len);

/* Returns the GPA in a BAR's register, whether the BAR is decoded or not. */
uint64_t pci_function_bar_gpa(const struct pci_function *fn, unsigned bar);

/* Set the register of a BAR. */
void pci_function_place_bar(struct pci_function *fn, unsigned bar, uint64_t gpa);

/*
 * Read or write, for the guest, `size` (1, 2 or 4) bytes of configuration space at `offset`; offset + size is at most
 * PCI_CONFIG_LEN.
 */
uint32_t pci_function_read(struct pci_function *fn, unsigned offset, unsigned size);
void pci_function_write(struct pci_function *fn, unsigned offset, unsigned size, uint32_t value);

/*
 * Copy all bits that a guest can write from `config` into the function's configuration space. Does not call the owner's
 * callbacks.
 */
void pci_function_put(struct pci_function *fn, const uint8_t config[PCI_CONFIG_LEN]);

/* Add each decoded BAR to `bus`, at the address in the BAR's register. Remove all other BARs from `bus`. */
void pci_function_map(struct pci_function *fn, struct bus *bus);

#endif
