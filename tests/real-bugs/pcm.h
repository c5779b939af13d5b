/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the triggers that use a PCM stream of ALSA share. */
#ifndef OUTRIDER_TRIGGER_PCM_H
#define OUTRIDER_TRIGGER_PCM_H

#include "trigger.h"

#include <sound/asound.h>
#include <sys/ioctl.h>

/* Set the stream's parameters: the kernel chooses any with which the buffer has at most this many bytes. This allocates the
 * buffer. */
static inline void pcm_allocate(int pcm, unsigned bytes)
{
	struct snd_pcm_hw_params any = {.rmask = ~0u, .info = ~0u};

	memset(any.masks, 0xff, sizeof(any.masks));
	for (size_t i = 0; i < sizeof(any.intervals) / sizeof(any.intervals[0]); i++)
		any.intervals[i].max = ~0u;
	any.intervals[SNDRV_PCM_HW_PARAM_BUFFER_BYTES - SNDRV_PCM_HW_PARAM_FIRST_INTERVAL].max = bytes;
	ioctl(pcm, SNDRV_PCM_IOCTL_HW_PARAMS, &any);
}

#endif
