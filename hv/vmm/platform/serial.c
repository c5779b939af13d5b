/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulates the 16550A UART of the guest's console: its registers, its receive FIFO and its interrupt line. Names such as IIR,
 * FCR and OUT2 are of the PC16550D data sheet.
 */
#include "hv/vmm/platform/serial.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { REG_DATA, REG_IER, REG_IIR_FCR, REG_LCR, REG_MCR, REG_LSR, REG_MSR, REG_SCR };
enum { IER_RX = 1, IER_TX = 2, IER_LINE = 4, IER_MASK = 0x0f };
enum { IIR_NONE = 1, IIR_TX = 2, IIR_RX = 4, IIR_LINE = 6, IIR_TIMEOUT = 0xc, IIR_FIFO = 0xc0 };
enum { FCR_ENABLE = 1, FCR_CLEAR_RX = 2, FCR_CLEAR_TX = 4 };
enum { LCR_DLAB = 0x80 };
enum { MCR_OUT2 = 8, MCR_LOOP = 0x10, MCR_MASK = 0x1f };
enum { LSR_DATA = 1, LSR_OVERRUN = 2, LSR_THRE = 0x20, LSR_TEMT = 0x40 };
enum { MSR_CTS = 0x10, MSR_DSR = 0x20, MSR_DCD = 0x80 };

void serial_init(struct serial *s, int out_fd, const struct irq_line *irq, const atomic_int *stop)
{
	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
	s->irq = *irq;
	s->out_fd = out_fd;
	s->stop = stop;
	s->dll = 12; /* 9600 baud */
}

void serial_destroy(struct serial *s)
{
	pthread_mutex_destroy(&s->lock);
}

static unsigned fifo_size(const struct serial *s)
{
	return s->fcr & FCR_ENABLE ? SERIAL_FIFO : 1;
}

/*
 * Returns the number of received bytes that turns the interrupt into "data available" (FCR bits 6 and 7). Fewer bytes raise the
 * character timeout interrupt. A real UART raises that interrupt after a delay; this UART raises it at once.
 */
static unsigned rx_trigger(const struct serial *s)
{
	static const uint8_t level[] = {1, 4, 8, 14};

	return s->fcr & FCR_ENABLE ? level[s->fcr >> 6] : 1;
}

/* Returns the pending interrupt of the highest priority, as IIR shows it. */
static uint8_t pending(const struct serial *s)
{
	if ((s->ier & IER_LINE) && s->overrun)
		return IIR_LINE;
	if ((s->ier & IER_RX) && s->rx_count)
		return s->rx_count >= rx_trigger(s) ? IIR_RX : IIR_TIMEOUT;
	if ((s->ier & IER_TX) && s->tx_irq_pending)
		return IIR_TX;
	return IIR_NONE;
}

/* Set the level of the interrupt line. On a PC, the line is low while OUT2 is clear. */
static void update_irq(struct serial *s)
{
	bool level = pending(s) != IIR_NONE && (s->mcr & MCR_OUT2) && !(s->mcr & MCR_LOOP);

	if (level == s->irq_level)
		return;
	s->irq_level = level;
	irq_set(&s->irq, level);
}

static void push(struct serial *s, uint8_t byte)
{
	if (s->rx_count >= fifo_size(s)) {
		s->overrun = LSR_OVERRUN;
		return;
	}
	s->rx[(s->rx_head + s->rx_count++) % SERIAL_FIFO] = byte;
}

static uint8_t pop(struct serial *s)
{
	uint8_t byte;

	if (!s->rx_count)
		return 0;
	byte = s->rx[s->rx_head];
	s->rx_head = (s->rx_head + 1) % SERIAL_FIFO;
	s->rx_count--;
	return byte;
}

/* Write the byte to the console. If this fails (a closed pipe, a full disk), drop the byte, so that the guest does not stop. */
static void emit(const struct serial *s, uint8_t byte)
{
	while (write(s->out_fd, &byte, 1) < 0 && errno == EINTR)
		if (s->stop && atomic_load(s->stop))
			return;
}

static void write_data(struct serial *s, uint8_t byte)
{
	if (s->mcr & MCR_LOOP)
		push(s, byte);
	else
		emit(s, byte);
	s->tx_irq_pending = true; /* the byte has been sent, so the transmitter is empty again */
}

static void write_fcr(struct serial *s, uint8_t value)
{
	if ((value ^ s->fcr) & FCR_ENABLE || value & FCR_CLEAR_RX)
		s->rx_count = 0;
	s->fcr = value & (FCR_ENABLE | 0xc0);
	if (!(s->fcr & FCR_ENABLE))
		s->fcr = 0;
}

static void write_ier(struct serial *s, uint8_t value)
{
	/*
	 * Enabling the transmitter-empty interrupt while the transmitter is empty raises the interrupt. Drivers start sending
	 * in this way.
	 */
	if (value & ~s->ier & IER_TX)
		s->tx_irq_pending = true;
	s->ier = value & IER_MASK;
}

static void write_register(struct serial *s, uint64_t offset, uint8_t value)
{
	bool dlab = s->lcr & LCR_DLAB;

	switch (offset) {
	case REG_DATA:
		if (dlab)
			s->dll = value;
		else
			write_data(s, value);
		break;
	case REG_IER:
		if (dlab)
			s->dlm = value;
		else
			write_ier(s, value);
		break;
	case REG_IIR_FCR:
		write_fcr(s, value);
		break;
	case REG_LCR:
		s->lcr = value;
		break;
	case REG_MCR:
		s->mcr = value & MCR_MASK;
		break;
	case REG_SCR:
		s->scratch = value;
		break;
	default: /* LSR and MSR are read-only */
		break;
	}
}

static uint8_t read_iir(struct serial *s)
{
	uint8_t iir = pending(s);

	if (iir == IIR_TX)
		s->tx_irq_pending = false;
	return iir | (s->fcr & FCR_ENABLE ? IIR_FIFO : 0);
}

static uint8_t read_lsr(struct serial *s)
{
	uint8_t lsr = LSR_THRE | LSR_TEMT | s->overrun | (s->rx_count ? LSR_DATA : 0);

	s->overrun = 0;
	return lsr;
}

/*
 * Returns the modem status register. In loopback mode each modem output is connected to an input: RTS feeds CTS, DTR feeds DSR,
 * OUT1 feeds RI and OUT2 feeds DCD.
 */
static uint8_t read_msr(const struct serial *s)
{
	uint8_t mcr = s->mcr;

	if (!(mcr & MCR_LOOP))
		return MSR_CTS | MSR_DSR | MSR_DCD;
	return (uint8_t)((mcr & 2) << 3 | (mcr & 1) << 5 | (mcr & 4) << 4 | (mcr & 8) << 4);
}

static uint8_t read_register(struct serial *s, uint64_t offset)
{
	bool dlab = s->lcr & LCR_DLAB;

	switch (offset) {
	case REG_DATA:
		return dlab ? s->dll : pop(s);
	case REG_IER:
		return dlab ? s->dlm : s->ier;
	case REG_IIR_FCR:
		return read_iir(s);
	case REG_LCR:
		return s->lcr;
	case REG_MCR:
		return s->mcr;
	case REG_LSR:
		return read_lsr(s);
	case REG_MSR:
		return read_msr(s);
	default:
		return s->scratch;
	}
}

/* Read `size` registers. A register is one byte, so a wider access reads several registers. */
static uint64_t serial_read(void *dev, uint64_t offset, unsigned size)
{
	struct serial *s = dev;
	uint32_t value = 0;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < size; i++)
		value |= (uint32_t)read_register(s, offset + i) << 8 * i;
	update_irq(s);
	pthread_mutex_unlock(&s->lock);
	return value;
}

static void serial_write(void *dev, uint64_t offset, unsigned size, uint64_t value)
{
	struct serial *s = dev;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < size; i++) {
		write_register(s, offset + i, (uint8_t)(value >> 8 * i));
		if (offset + i == REG_DATA && !(s->lcr & LCR_DLAB) && s->irq_level && pending(s) == IIR_TX) {
			/*
			 * Lower the line for a moment when a byte is sent, so that an edge-triggered input of the interrupt
			 * controller sees an edge for the next interrupt.
			 */
			s->irq_level = false;
			irq_set(&s->irq, false);
		}
	}
	update_irq(s);
	pthread_mutex_unlock(&s->lock);
}

const struct bus_ops serial_ops = {.read = serial_read, .write = serial_write};

unsigned serial_room(struct serial *s)
{
	unsigned room = 0;

	pthread_mutex_lock(&s->lock);
	if ((s->ier & IER_RX) && !(s->mcr & MCR_LOOP) && s->rx_count < fifo_size(s))
		room = fifo_size(s) - s->rx_count;
	pthread_mutex_unlock(&s->lock);
	return room;
}

void serial_input(struct serial *s, const uint8_t *data, unsigned n)
{
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < n; i++)
		push(s, data[i]);
	update_irq(s);
	pthread_mutex_unlock(&s->lock);
}

/* ---- snapshots ---- */

void serial_save(struct serial *s, struct serial_state *out)
{
	pthread_mutex_lock(&s->lock);
	*out = (struct serial_state){
		.ier = s->ier,
		.lcr = s->lcr,
		.mcr = s->mcr,
		.scratch = s->scratch,
		.fcr = s->fcr,
		.dll = s->dll,
		.dlm = s->dlm,
		.overrun = s->overrun,
		.tx_irq_pending = s->tx_irq_pending,
		.irq_level = s->irq_level,
		.rx_count = (uint8_t)s->rx_count,
	};
	for (unsigned i = 0; i < s->rx_count; i++)
		out->rx[i] = s->rx[(s->rx_head + i) % SERIAL_FIFO];
	pthread_mutex_unlock(&s->lock);
}

static bool state_is_good(const struct serial_state *state)
{
	return !(state->ier & ~IER_MASK) && !(state->mcr & ~MCR_MASK) && !(state->fcr & ~(FCR_ENABLE | 0xc0)) &&
	       (state->fcr & FCR_ENABLE || !state->fcr) && (!state->overrun || state->overrun == LSR_OVERRUN) &&
	       state->tx_irq_pending <= 1 && state->irq_level <= 1 && state->rx_count <= SERIAL_FIFO;
}

bool serial_load(struct serial *s, const struct serial_state *state)
{
	if (!state_is_good(state))
		return false;
	s->ier = state->ier;
	s->lcr = state->lcr;
	s->mcr = state->mcr;
	s->scratch = state->scratch;
	s->fcr = state->fcr;
	s->dll = state->dll;
	s->dlm = state->dlm;
	s->overrun = state->overrun;
	s->tx_irq_pending = state->tx_irq_pending;
	s->irq_level = state->irq_level;
	s->rx_head = 0;
	s->rx_count = state->rx_count;
	memcpy(s->rx, state->rx, sizeof(s->rx));
	return true;
}
