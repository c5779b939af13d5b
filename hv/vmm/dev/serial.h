/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 16550A UART (National Semiconductor PC16550D data sheet). Output goes to a file descriptor at once; input comes through a
 * FIFO of 16 bytes, with interrupts. The guest can read back the baud rate and line settings that it wrote, but they have no
 * effect.
 */
#ifndef OUTRIDER_VMM_DEV_SERIAL_H
#define OUTRIDER_VMM_DEV_SERIAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/dev/bus.h"
#include "hv/vmm/dev/lines.h"

#define SERIAL_LEN 8 /* ports from SERIAL_PORT */
#define SERIAL_FIFO 16

struct serial {
	pthread_mutex_t lock;
	struct irq_line irq;
	int out_fd;
	const atomic_int *stop; /* while it is not 0, output that would wait for its reader is dropped; NULL: it always waits */
	uint8_t ier, lcr, mcr, scratch, fcr, dll, dlm; /* the registers of these names */
	uint8_t overrun;			       /* LSR's overrun bit, until the guest reads LSR */
	bool tx_irq_pending;	    /* the transmitter-empty interrupt is due: from a write of a byte until a read of IIR */
	bool irq_level;		    /* the level that `irq` was last set to */
	uint8_t rx[SERIAL_FIFO];    /* the receive FIFO, a ring */
	unsigned rx_head, rx_count; /* where its oldest byte is, and how many bytes it holds */
};

/* All of it that a guest can see. */
struct serial_state {
	uint8_t ier, lcr, mcr, scratch, fcr, dll, dlm, overrun, tx_irq_pending, irq_level;
	uint8_t rx_count;
	uint8_t rx[SERIAL_FIFO]; /* the oldest byte first */
};

extern const struct bus_ops serial_ops;

/* Put the UART into its reset state. `out_fd` and *stop are the caller's and must outlive it. `stop` may be NULL. */
void serial_init(struct serial *s, int out_fd, const struct irq_line *irq, const atomic_int *stop);
void serial_destroy(struct serial *s);

/*
 * The number of bytes of input that there is room for. It is 0 until the guest enables receive interrupts, because a driver
 * clears the FIFO when it starts, and what was typed before that would be lost. Any thread may call this.
 */
unsigned serial_room(struct serial *s);

/* Receive `n` bytes of input. Those for which there is no room are lost and set the overrun bit. Any thread may call this. */
void serial_input(struct serial *s, const uint8_t *data, unsigned n);

/*
 * Save the registers, and load them into a UART that nobody uses yet. Loading leaves the interrupt line alone, whose level is
 * the interrupt controller's to know. It returns false, and changes nothing, when the state is none that a UART can be in.
 */
void serial_save(struct serial *s, struct serial_state *out);
bool serial_load(struct serial *s, const struct serial_state *state);

#endif
