/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 16550A UART (National Semiconductor PC16550D data sheet). It writes output to a file descriptor at once. Input goes through
 * a FIFO of 16 bytes, with interrupts. The guest can read back the baud rate and line settings that it wrote, but they have no
 * effect.
 */
#ifndef OUTRIDER_VMM_PLATFORM_SERIAL_H
#define OUTRIDER_VMM_PLATFORM_SERIAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hv/vmm/bus/bus.h"
#include "hv/vmm/bus/lines.h"

#define SERIAL_LEN 8 /* number of ports from SERIAL_PORT on */
#define SERIAL_FIFO 16

struct serial {
	pthread_mutex_t lock;
	struct irq_line irq;
	int out_fd;
	/*
	 * If a signal interrupts a write to `out_fd` while *stop is not 0, the UART drops the byte. So a reader that does not
	 * read the output cannot keep the machine from ending. NULL: the UART always writes again.
	 */
	const atomic_int *stop;
	uint8_t ier, lcr, mcr, scratch, fcr, dll, dlm; /* the registers of these names */
	uint8_t overrun;			       /* LSR's overrun bit, until the guest reads LSR */
	bool tx_irq_pending;	    /* the transmitter-empty interrupt is due: from the write of a byte until the read of IIR */
	bool irq_level;		    /* the level that `irq` was last set to */
	uint8_t rx[SERIAL_FIFO];    /* the receive FIFO, a ring */
	unsigned rx_head, rx_count; /* index of the FIFO's oldest byte, and number of bytes */
};

/* The state that a guest can see. */
struct serial_state {
	uint8_t ier, lcr, mcr, scratch, fcr, dll, dlm, overrun, tx_irq_pending, irq_level;
	uint8_t rx_count;
	uint8_t rx[SERIAL_FIFO]; /* the oldest byte first */
};

extern const struct bus_ops serial_ops;

/* Put the UART into its reset state. The caller owns `out_fd` and *stop, which must outlive the UART. `stop` may be NULL. */
void serial_init(struct serial *s, int out_fd, const struct irq_line *irq, const atomic_int *stop);
void serial_destroy(struct serial *s);

/*
 * Returns the number of bytes of input that the FIFO has room for, or 0 until the guest enables receive interrupts: a driver
 * clears the FIFO when it starts, so earlier input would be lost. Any thread may call this.
 */
unsigned serial_room(struct serial *s);

/* Receive `n` bytes of input. Bytes that do not fit are lost and set the overrun bit. Any thread may call this. */
void serial_input(struct serial *s, const uint8_t *data, unsigned n);

/*
 * Save the registers; load them into a UART before its machine runs. Loading does not drive the interrupt line, because the
 * interrupt controller's own saved state has the line's level. Loading returns false, and changes nothing, if no UART can be in
 * this state.
 */
void serial_save(struct serial *s, struct serial_state *out);
bool serial_load(struct serial *s, const struct serial_state *state);

#endif
