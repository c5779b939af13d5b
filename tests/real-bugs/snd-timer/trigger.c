/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread selects a master timer again and again, which closes the one before. The other sets parameters of its slave. */
#include "../trigger.h"

#include <sound/asound.h>
#include <sys/ioctl.h>

static int master, slave;
static bool selected;

static void select_master(void *opaque)
{
	struct snd_timer_select which = {
		.id = {.dev_class = SNDRV_TIMER_CLASS_GLOBAL, .card = -1, .device = SNDRV_TIMER_GLOBAL_SYSTEM}};

	(void)opaque;
	need(ioctl(master, SNDRV_TIMER_IOCTL_SELECT, &which), "select the system timer");
	if (!selected) {
		/* A slave's device is the id of the thread that selected the master. */
		which.id = (struct snd_timer_id){.dev_class = SNDRV_TIMER_CLASS_SLAVE,
						 .dev_sclass = SNDRV_TIMER_SCLASS_APPLICATION,
						 .card = -1,
						 .device = gettid()};
		need(ioctl(slave, SNDRV_TIMER_IOCTL_SELECT, &which), "select a slave timer");
		selected = true;
	}
}

static void set_params(void *opaque)
{
	struct snd_timer_params params = {.ticks = 10, .queue_size = 128, .filter = 1 << SNDRV_TIMER_EVENT_TICK};

	(void)opaque;
	ioctl(slave, SNDRV_TIMER_IOCTL_PARAMS, &params);
}

int main(void)
{
	master = need(open("/dev/snd/timer", O_RDWR | O_CLOEXEC), "open /dev/snd/timer");
	slave = need(open("/dev/snd/timer", O_RDWR | O_CLOEXEC), "open /dev/snd/timer");
	repeat_both(select_master, set_params, NULL);
}
