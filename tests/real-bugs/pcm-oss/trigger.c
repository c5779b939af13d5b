/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two files share one substream: /dev/dsp, and the native device opened with O_APPEND. CPU 0 changes the rate by the first,
 * which sets the buffer up and silences it. CPU 1 frees the buffer by the second, and allocates it again: a change fails before
 * it comes to the silence if it finds no buffer, so there is one most of the time.
 */
#include "../pcm.h"

#include <linux/soundcard.h>

#define WITH_BUFFER_US 3000

static int dsp, native;

static void change(void *opaque)
{
	static int turn;
	int rate = turn++ % 2 ? 44100 : 48000, bytes;

	(void)opaque;
	ioctl(dsp, SNDCTL_DSP_SPEED, &rate);
	ioctl(dsp, SNDCTL_DSP_GETBLKSIZE, &bytes);
}

/* Free the buffer, and have the kernel choose any parameters with which there is one. */
static void reallocate(void *opaque)
{
	(void)opaque;
	ioctl(native, SNDRV_PCM_IOCTL_HW_FREE);
	if (is_explored_step)
		return;
	pcm_allocate(native, ~0u);
	spin_us(WITH_BUFFER_US);
}

int main(void)
{
	int first = 0;
	int control = need(open("/dev/snd/controlC0", O_RDWR | O_CLOEXEC), "open the sound card");

	need(ioctl(control, SNDRV_CTL_IOCTL_PCM_PREFER_SUBDEVICE, &first), "prefer the first substream");
	dsp = need(open("/dev/dsp", O_WRONLY | O_CLOEXEC), "open /dev/dsp");
	native = need(open("/dev/snd/pcmC0D0p", O_WRONLY | O_APPEND | O_CLOEXEC), "open the same substream by /dev/snd");
	if (is_explored()) {
		change(NULL);
		reallocate(NULL);
	}
	repeat_both(change, reallocate, NULL);
}
