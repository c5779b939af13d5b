/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two threads have one file of a PCM stream: CPU 0 sets the parameters, which allocates the buffer and clears it, and CPU 1
 * prepares the stream or frees the buffer. The buffer has one page, and the threads wait between their steps: otherwise the
 * kernel dies within a second, before outrider has sampled much.
 */
#include "../pcm.h"

#define BUFFER_BYTES 4096
#define BETWEEN_US 2000
/* The buffer is freed in one step of this many. */
#define FREE_EACH 64

static int pcm;

static void allocate(void *opaque)
{
	(void)opaque;
	pcm_allocate(pcm, BUFFER_BYTES);
	spin_us(is_explored_step ? 0 : BETWEEN_US);
}

static void release(void *opaque)
{
	static unsigned step;

	(void)opaque;
	ioctl(pcm, is_explored_step || step++ % FREE_EACH == 0 ? SNDRV_PCM_IOCTL_HW_FREE : SNDRV_PCM_IOCTL_PREPARE);
	spin_us(is_explored_step ? 0 : BETWEEN_US / 2);
}

int main(void)
{
	pcm = need(open("/dev/snd/pcmC0D0p", O_WRONLY | O_CLOEXEC), "open the playback stream");
	if (is_explored())
		allocate(NULL);
	repeat_both(allocate, release, NULL);
}
