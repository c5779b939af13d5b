/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU 0 sets the delays of a USB modem, which is a serial gadget of this machine, in turn to two values. CPU 1 asks for them.
 */
#include "../trigger.h"

#include <linux/serial.h>
#include <sys/ioctl.h>

#define MODEM "/dev/ttyACM0"
#define WAIT_S 600 /* until the emulated host has enumerated the gadget: many times what it takes */

static int modem;

static void set(void *opaque)
{
	static unsigned short turn;
	struct serial_struct s = {.close_delay = 50, .closing_wait = 3000};

	(void)opaque;
	s.close_delay = (unsigned short)(s.close_delay + 100 * (turn & 1));
	s.closing_wait = (unsigned short)(s.closing_wait + 100 * (turn++ & 1));
	need(ioctl(modem, TIOCSSERIAL, &s), "set the modem's delays");
}

static void get(void *opaque)
{
	struct serial_struct s;

	(void)opaque;
	need(ioctl(modem, TIOCGSERIAL, &s), "get the modem's delays");
	/* Both delays are the longer ones, or none is. */
	step_status = (s.close_delay > 50) != (s.closing_wait > 3000) ? 2 : 0;
}

int main(void)
{
	for (int i = 0; i < 10 * WAIT_S && access(MODEM, F_OK) < 0; i++)
		usleep(100000);
	modem = need(open(MODEM, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC), "open " MODEM);
	if (is_explored())
		set(NULL);
	repeat_both(set, get, NULL);
}
