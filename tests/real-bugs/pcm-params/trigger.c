/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two threads have one file of a PCM stream: CPU 0 sets the parameters, which allocates the buffer and clears it, and CPU 1
 * prepares the stream or frees the buffer. The buffer has one page, and the threads wait between their steps: otherwise the
 * kernel dies within a second, before outrider has sampled much.
 */
#include "../trigger.h"

#include <sound/asound.h>
#include <sys/ioctl.h>

#define BUFFER_BYTES 4096
#define BETWEEN_US 2000
/* The buffer is freed in one step of this many. */
#define FREE_EACH 64

static int pcm;

/* Let the kernel choose any parameters with so small a buffer. */
static void allocate(void *opaque)
{
	struct snd_pcm_hw_params any = {.rmask = ~0u, .info = ~0u};

	(void)opaque;
	memset(any.masks, 0xff, sizeof(any.masks));
	for (size_t i = 0; i < sizeof(any.intervals) / sizeof(any.intervals[0]); i++)
		any.intervals[i].max = ~0u;
	any.intervals[SNDRV_PCM_HW_PARAM_BUFFER_BYTES - SNDRV_PCM_HW_PARAM_FIRST_INTERVAL].max = BUFFER_BYTES;
	ioctl(pcm, SNDRV_PCM_IOCTL_HW_PARAMS, &any);
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
