/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU 0 changes a switch of a sound card, and the kernel sends a signal for it. CPU 1 turns these signals of the same file off
 * and on. */
#include "../trigger.h"

#include <signal.h>
#include <sound/asound.h>
#include <sys/ioctl.h>

#define SWITCH "Outrider"

static int control;

static void change(void *opaque)
{
	static struct snd_ctl_elem_value value = {.id = {.iface = SNDRV_CTL_ELEM_IFACE_MIXER, .name = SWITCH}};

	(void)opaque;
	value.value.integer.value[0] ^= 1;
	need(ioctl(control, SNDRV_CTL_IOCTL_ELEM_WRITE, &value), "change the switch");
}

static void toggle(void *opaque)
{
	int on = 1, off = 0;

	(void)opaque;
	need(ioctl(control, FIOASYNC, &off), "turn signals off");
	need(ioctl(control, FIOASYNC, &on), "turn signals on");
}

int main(void)
{
	struct snd_ctl_elem_info info = {.id = {.iface = SNDRV_CTL_ELEM_IFACE_MIXER, .name = SWITCH},
					 .type = SNDRV_CTL_ELEM_TYPE_BOOLEAN,
					 .access = SNDRV_CTL_ELEM_ACCESS_READWRITE,
					 .count = 1};
	int on = 1;

	signal(SIGIO, SIG_IGN);
	control = need(open("/dev/snd/controlC0", O_RDWR | O_CLOEXEC), "open the sound card");
	need(ioctl(control, SNDRV_CTL_IOCTL_ELEM_ADD, &info), "add a switch");
	need(ioctl(control, SNDRV_CTL_IOCTL_SUBSCRIBE_EVENTS, &on), "subscribe to events");
	need(fcntl(control, F_SETOWN, getpid()), "own the signals");
	repeat_both(change, toggle, NULL);
}
