/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the thread that passes console input to the serial port and raises the interrupts of the clock. */
#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "hv/sandbox/sandbox.h"
#include "hv/vmm/machine.h"

#define POLL_FULL_MS 20 /* ms between two tests for room in the guest's full FIFO */

/* Read up to `room` bytes of input into the serial port. Returns false at the end of the input. */
static bool feed(struct vm *vm, unsigned room)
{
	uint8_t buf[SERIAL_FIFO];
	ssize_t n = read(vm->console_in, buf, room < sizeof(buf) ? room : sizeof(buf));

	if (n > 0)
		serial_input(&vm->serial, buf, (unsigned)n);
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

static int until_next_second_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return 1000 - (int)(now.tv_nsec / 1000000);
}

static void tick(struct vm *vm, time_t *last)
{
	time_t now = time(NULL);

	if (now == *last)
		return;
	*last = now;
	rtc_tick(&vm->rtc, now);
}

void *input_thread(void *arg)
{
	struct vm *vm = arg;
	bool open = vm->console_in >= 0;
	time_t last = time(NULL);

	sandbox_thread(SANDBOX_INPUT);
	while (!atomic_load(&vm->ended)) {
		unsigned room = open ? serial_room(&vm->serial) : 0;
		int timeout = until_next_second_ms();
		struct pollfd fds[] = {
			{.fd = vm->wake_fd, .events = POLLIN},
			{.fd = room ? vm->console_in : -1, .events = POLLIN},
		};

		if (open && !room && timeout > POLL_FULL_MS)
			timeout = POLL_FULL_MS;
		poll(fds, 2, timeout);
		if (room && fds[1].revents)
			open = feed(vm, room);
		tick(vm, &last);
	}
	return NULL;
}
