/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A 16550A UART (National Semiconductor PC16550D data sheet): output to a file descriptor at once, input through a 16-byte FIFO
 * with interrupts. Baud rate and line settings are kept for the guest to read back and change nothing.
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
	const atomic_int *stop; /* non-zero: output that would wait for its reader is dropped */
	uint8_t ier, lcr, mcr, scratch, fcr, dll, dlm;
	uint8_t overrun;     /* LSR bit, until it is read */
	bool tx_irq_pending; /* transmitter-empty, until IIR is read or the next byte is written */
	bool irq_level;
	uint8_t rx[SERIAL_FIFO];
	unsigned rx_head, rx_count;
};

extern const struct bus_ops serial_ops;

/* Reset state. out_fd is the caller's; so is *stop, which may be NULL. */
void serial_init(struct serial *s, int out_fd, const struct irq_line *irq, const atomic_int *stop);
void serial_destroy(struct serial *s);

/*
 * Bytes of input there is room for: none until the guest takes receive interrupts, as drivers clear the FIFO when they start
 * and what was typed before would be lost.
 */
unsigned serial_room(struct serial *s);

/* Feed `n` input bytes; those beyond serial_room() are lost and set the overrun bit. */
void serial_input(struct serial *s, const uint8_t *data, unsigned n);

#endif
