/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs in a guest until it is killed: one task plays, one records, and one sets every control of the mixer, all on sound card 0
 * and all through the kernel's own interface, so that no library is needed. Each stream has a second task, which asks where the
 * stream is.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sound/asound.h>

#define PERIOD 512 /* frames */
#define FRAME 4	   /* bytes: two channels of 16 bits */

static void only(struct snd_pcm_hw_params *params, int what, unsigned int value)
{
	struct snd_mask *mask = &params->masks[what - SNDRV_PCM_HW_PARAM_FIRST_MASK];

	memset(mask, 0, sizeof(*mask));
	mask->bits[value / 32] = 1U << value % 32;
}

static void exactly(struct snd_pcm_hw_params *params, int what, unsigned int value)
{
	struct snd_interval *interval = &params->intervals[what - SNDRV_PCM_HW_PARAM_FIRST_INTERVAL];

	*interval = (struct snd_interval){.min = value, .max = value, .integer = 1};
}

static int set_up(int fd, unsigned int rate)
{
	struct snd_pcm_hw_params params = {.rmask = ~0U};

	for (size_t i = 0; i < sizeof(params.intervals) / sizeof(params.intervals[0]); i++)
		params.intervals[i].max = ~0U;
	memset(params.masks, 0xff, sizeof(params.masks));
	only(&params, SNDRV_PCM_HW_PARAM_ACCESS, SNDRV_PCM_ACCESS_RW_INTERLEAVED);
	only(&params, SNDRV_PCM_HW_PARAM_FORMAT, SNDRV_PCM_FORMAT_S16_LE);
	exactly(&params, SNDRV_PCM_HW_PARAM_CHANNELS, 2);
	exactly(&params, SNDRV_PCM_HW_PARAM_RATE, rate);
	exactly(&params, SNDRV_PCM_HW_PARAM_PERIOD_SIZE, PERIOD);
	return ioctl(fd, SNDRV_PCM_IOCTL_HW_PARAMS, &params);
}

static void ask(int fd)
{
	for (;;) {
		struct snd_pcm_status status = {0};
		snd_pcm_sframes_t delay;

		ioctl(fd, SNDRV_PCM_IOCTL_STATUS, &status);
		ioctl(fd, SNDRV_PCM_IOCTL_HWSYNC);
		ioctl(fd, SNDRV_PCM_IOCTL_DELAY, &delay);
		usleep(1000);
	}
}

static void move_frames(int fd, bool capture)
{
	static char data[PERIOD * FRAME];

	for (int i = 0; i < 40; i++) {
		struct snd_xferi frames = {.buf = data, .frames = PERIOD};
		unsigned long how = capture ? SNDRV_PCM_IOCTL_READI_FRAMES : SNDRV_PCM_IOCTL_WRITEI_FRAMES;

		if (ioctl(fd, how, &frames) < 0)
			ioctl(fd, SNDRV_PCM_IOCTL_PREPARE);
		if (i % 10 == 9) {
			ioctl(fd, SNDRV_PCM_IOCTL_PAUSE, 1);
			ioctl(fd, SNDRV_PCM_IOCTL_PAUSE, 0);
		}
	}
	ioctl(fd, SNDRV_PCM_IOCTL_DROP);
}

static void stream(const char *device, bool capture)
{
	static const unsigned int rates[] = {44100, 48000, 22050};

	for (unsigned int i = 0;; i++) {
		int fd = open(device, O_RDWR);
		pid_t asker;

		if (fd < 0 || (set_up(fd, rates[i % 3]) && set_up(fd, 48000))) {
			if (i < 3)
				printf("%s: %s\n", device, strerror(errno));
			usleep(100000);
		} else {
			ioctl(fd, SNDRV_PCM_IOCTL_PREPARE);
			asker = fork();
			if (!asker)
				ask(fd);
			move_frames(fd, capture);
			if (asker > 0) {
				kill(asker, SIGKILL);
				waitpid(asker, NULL, 0);
			}
		}
		if (fd >= 0)
			close(fd);
	}
}

/* Change one control, if it has a number that can be written. */
static void change(int fd, const struct snd_ctl_elem_id *id, long by)
{
	struct snd_ctl_elem_info info = {.id = *id};
	struct snd_ctl_elem_value value = {.id = *id};
	long least, range;

	if (ioctl(fd, SNDRV_CTL_IOCTL_ELEM_INFO, &info) || ioctl(fd, SNDRV_CTL_IOCTL_ELEM_READ, &value))
		return;
	if (!(info.access & SNDRV_CTL_ELEM_ACCESS_WRITE))
		return;
	if (info.type == SNDRV_CTL_ELEM_TYPE_ENUMERATED) {
		value.value.enumerated.item[0] = (unsigned int)by % info.value.enumerated.items;
	} else if (info.type == SNDRV_CTL_ELEM_TYPE_BOOLEAN || info.type == SNDRV_CTL_ELEM_TYPE_INTEGER) {
		least = info.value.integer.min;
		range = info.value.integer.max - least + 1;
		for (unsigned int i = 0; i < info.count && i < 128; i++)
			value.value.integer.value[i] = least + (value.value.integer.value[i] - least + by) % range;
	}
	ioctl(fd, SNDRV_CTL_IOCTL_ELEM_WRITE, &value);
}

static void mix(void)
{
	static struct snd_ctl_elem_id ids[256];

	for (long by = 1;; by++) {
		struct snd_ctl_elem_list list = {.space = 256, .pids = ids};
		int fd = open("/dev/snd/controlC0", O_RDWR);

		if (fd < 0 || ioctl(fd, SNDRV_CTL_IOCTL_ELEM_LIST, &list))
			perror("/dev/snd/controlC0");
		for (unsigned int i = 0; i < list.used; i++)
			change(fd, &ids[i], by);
		if (fd >= 0)
			close(fd);
		usleep(1000);
	}
}

int main(void)
{
	if (!fork())
		stream("/dev/snd/pcmC0D0p", false);
	if (!fork())
		stream("/dev/snd/pcmC0D0c", true);
	mix();
}
