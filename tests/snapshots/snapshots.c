/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of a machine that works, on a real /dev/kvm, so in a lab host.
 *
 * snapshots replace KERNEL INITRD APPEND MIB CYCLES: again and again, save the machine, destroy it, and let a copy in a new KVM
 * VM go on in its place.
 *
 * snapshots fork KERNEL INITRD APPEND MIB CYCLES COPIES [DISK]: again and again, save the machine and fork. Every tenth child,
 * until there are COPIES of them, makes a copy on its own RAM, and on a copy of the disk, and runs it to its end, beside the
 * machine. All that is confined as in a run (hv/sandbox/sandbox.h). Says for how long the machine stood still, and how much
 * memory the process had.
 *
 * The machine has a card, whose driver the guest loads and unloads all the time. The guest says "snapshots: begin" on its
 * console when it works, goes on working until its console says "enough busy", and then powers off. What it says of its work is
 * on standard error, and for a judge to read; each line of a copy begins with "copy N: ".
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/base/clock.h"
#include "hv/base/rng.h"
#include "hv/sandbox/sandbox.h"
#include "hv/target/kvm/kvm.h"
#include "hv/vmm/machine.h"
#include "hv/vmm/snapshot/snapshot.h"

#define BEGIN "snapshots: begin"
#define ENOUGH "enough busy\n"
#define RUN_US_MAX 40000u /* for how long the guest runs between two snapshots, at most */
#define COPY_EVERY 10u

/* The guest's console: a thread prints each line with `prefix`, and looks for BEGIN in it. */
struct console {
	int in, out; /* a pipe: the guest writes to `out` */
	const char *prefix;
	atomic_bool begun;
	pthread_t thread;
};

/* The machine, a thread that runs it, and what makes it stand still. */
struct life {
	struct vm *vm;
	struct target *target;
	pthread_t thread;
	enum vm_end end;
	struct err err;
	int rc;
};

struct times {
	uint64_t *save_ns, *fork_ns, *all_ns;
	unsigned count;
};

struct trial {
	struct vmm_config config;
	unsigned cycles;
	struct console console;
	struct rng rng;
	struct times times;
	unsigned copies_wanted, copies, good_copies;
	int smaps; /* what the kernel says of the memory of this process; it was opened before the process was confined */
};

/* ---- the console ---- */

static void *read_console(void *arg)
{
	struct console *c = arg;
	FILE *in = fdopen(c->in, "r");
	char line[1024];

	while (in && fgets(line, sizeof(line), in)) {
		if (strstr(line, BEGIN))
			atomic_store(&c->begun, true);
		fprintf(stderr, "%s%s", c->prefix, line);
	}
	if (in)
		fclose(in);
	return NULL;
}

static int open_console(struct console *c, const char *prefix)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	c->in = fds[0];
	c->out = fds[1];
	c->prefix = prefix;
	return pthread_create(&c->thread, NULL, read_console, c) ? -1 : 0;
}

static void close_console(struct console *c)
{
	close(c->out);
	pthread_join(c->thread, NULL);
}

/* ---- a machine's life ---- */

static void *run(void *arg)
{
	struct life *life = arg;

	life->rc = vm_run(life->vm, kvm_target_callbacks(life->target), &life->end, &life->err);
	kvm_target_over(life->target);
	return NULL;
}

static int begin_life(struct life *life, struct vm *vm, struct err *err)
{
	*life = (struct life){.vm = vm, .target = vm ? kvm_target_new(vm, KVM_BP_INTERCEPT, err) : NULL};
	if (!life->target)
		return -1;
	return pthread_create(&life->thread, NULL, run, life) ? err_set(err, EXIT_INTERNAL, "no thread") : 0;
}

/* The machine has ended, or ends by itself soon. Returns 0 when it ended as `wanted`. */
static int end_life(struct life *life, enum vm_end wanted, struct err *err)
{
	int rc = 0;

	pthread_join(life->thread, NULL);
	if (life->rc < 0)
		rc = err_set(err, life->err.code, "%s", life->err.text);
	else if (life->end != wanted)
		rc = err_set(err, EXIT_GUEST, "the guest died: %s", vm_end_detail(life->vm));
	kvm_target_free(life->target);
	vm_destroy(life->vm);
	return rc;
}

/* The machine has ended by itself, which it should not. */
static int died(struct life *life, struct err *err)
{
	return end_life(life, VM_END_STOPPED, err) < 0 ? -1 : err_set(err, EXIT_GUEST, "the machine was stopped");
}

static int say_enough(const struct life *life)
{
	/* The receive FIFO has room for all of it once the guest has read what was there before. */
	for (const char *at = ENOUGH; *at; at++) {
		while (!serial_room(&life->vm->serial)) {
			if (atomic_load(&life->target->over))
				return -1;
			usleep(1000);
		}
		serial_input(&life->vm->serial, (const uint8_t *)at, 1);
	}
	return 0;
}

static int wait_begin(const struct trial *t, const struct life *life)
{
	while (!atomic_load(&t->console.begun)) {
		if (atomic_load(&life->target->over))
			return -1;
		usleep(10000);
	}
	return 0;
}

static void run_a_while(struct trial *t)
{
	usleep((useconds_t)rng_below(&t->rng, RUN_US_MAX) + 1);
}

/* ---- one machine replaces the other ---- */

/* Put a copy in the place of the machine. */
static int replace(struct trial *t, struct life *life, struct err *err)
{
	const struct vm_copy_config config = {.kvm_fd = -1, .console_out = t->console.out};
	struct vm_state state = {0};
	struct ram ram = {0};
	int rc;

	if (target_stand_still(life->target) < 0)
		return died(life, err);
	rc = vm_state_save(life->vm, 0, &state, err);
	if (rc == 0) {
		ram = vm_ram_take(life->vm);
		vm_stop(life->vm);
	}
	target_go_on(life->target);
	if (rc < 0)
		return -1;
	if (end_life(life, VM_END_STOPPED, err) == 0)
		rc = begin_life(life, vm_copy_new(&state, &ram, &config, err), err);
	else
		rc = -1;
	vm_state_free(&state);
	return rc;
}

static int replace_all(struct trial *t, struct life *life, struct err *err)
{
	for (unsigned i = 0; i < t->cycles; i++) {
		run_a_while(t);
		if (replace(t, life, err) < 0)
			return -1;
	}
	printf("snapshots: %u times replaced\n", t->cycles);
	return 0;
}

/* ---- copies beside the machine ---- */

/* The child: make a copy, and run it to its end. */
static int run_copy(struct trial *t, struct vm *vm, const struct vm_state *state, unsigned number, struct err *err)
{
	struct vm_copy_config config = {0};
	struct console console = {0};
	struct life life;
	struct vm_parent parent;
	char prefix[32];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(prefix, sizeof(prefix), "copy %u: ", number);
	vm_forked(vm, &parent);
	config.kvm_fd = parent.kvm_fd;
	config.disks = parent.disks;
	close(t->console.out);
	if (open_console(&console, prefix) < 0)
		return err_set(err, EXIT_INTERNAL, "no console");
	config.console_out = console.out;
	if (begin_life(&life, vm_copy_new(state, &parent.ram, &config, err), err) < 0 || say_enough(&life) < 0 ||
	    end_life(&life, VM_END_POWEROFF, err) < 0)
		return -1;
	close_console(&console);
	return 0;
}

static bool is_copied(const struct trial *t, unsigned number)
{
	return number % COPY_EVERY == 0 && number / COPY_EVERY < t->copies_wanted;
}

static void child(struct trial *t, struct vm *vm, const struct vm_state *state, unsigned number)
{
	struct err err = {0};

	if (is_copied(t, number) && run_copy(t, vm, state, number, &err) < 0) {
		fprintf(stderr, "copy %u: %s\n", number, err.text);
		_exit(1);
	}
	_exit(0);
}

static int wait_child(struct trial *t, pid_t pid, unsigned number)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	if (is_copied(t, number)) {
		t->copies++;
		t->good_copies += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	return 0;
}

static int fork_copy(struct trial *t, struct life *life, unsigned number, struct err *err)
{
	struct vm_state state = {0};
	uint64_t stood, saved = 0, began = monotonic_ns();
	pid_t pid = -1;
	int rc;

	if (target_stand_still(life->target) < 0)
		return died(life, err);
	stood = monotonic_ns();
	if (vm_devices_stand_still(life->vm, err) < 0) {
		target_go_on(life->target);
		return -1;
	}
	rc = vm_state_save(life->vm, 0, &state, err);
	if (rc == 0) {
		saved = monotonic_ns();
		pid = fork();
		if (pid == 0)
			child(t, life->vm, &state, number);
	}
	if (pid > 0) {
		uint64_t now = monotonic_ns();

		t->times.save_ns[t->times.count] = saved - stood;
		t->times.fork_ns[t->times.count] = now - saved;
		t->times.all_ns[t->times.count++] = now - began;
	}
	vm_devices_go_on(life->vm);
	target_go_on(life->target);
	vm_state_free(&state);
	if (rc == 0 && pid < 0)
		rc = err_set(err, EXIT_INTERNAL, "fork: %s", strerror(errno));
	return rc < 0 ? -1 : wait_child(t, pid, number);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void show_times(const char *what, uint64_t *ns, unsigned count)
{
	qsort(ns, count, sizeof(*ns), by_size);
	printf("snapshots: %s: median %" PRIu64 " us, p99 %" PRIu64 " us, most %" PRIu64 " us\n", what, ns[count / 2] / 1000,
	       ns[count * 99 / 100] / 1000, ns[count - 1] / 1000);
}

/* The lines of smaps_rollup that say how much memory is there, and how much of it in huge pages. */
static void show_memory(int smaps)
{
	static const char *const keys[] = {"Rss:", "AnonHugePages:"};
	char text[4096];
	ssize_t n = pread(smaps, text, sizeof(text) - 1, 0);

	if (n < 0)
		return;
	text[n] = '\0';
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *line = strstr(text, keys[i]);

		if (line)
			printf("snapshots: %.*s\n", (int)strcspn(line, "\n"), line);
	}
}

static int fork_all(struct trial *t, struct life *life, struct err *err)
{
	show_memory(t->smaps);
	for (unsigned i = 0; i < t->cycles; i++) {
		run_a_while(t);
		if (fork_copy(t, life, i, err) < 0)
			return -1;
	}
	show_memory(t->smaps);
	printf("snapshots: %u forks, %u copies, %u of them ran to their end\n", t->cycles, t->copies, t->good_copies);
	show_times("save", t->times.save_ns, t->times.count);
	show_times("fork", t->times.fork_ns, t->times.count);
	show_times("stand still, save and fork", t->times.all_ns, t->times.count);
	return t->copies == t->good_copies ? 0 : err_set(err, EXIT_GUEST, "a copy did not run to its end");
}

/* ---- all of it ---- */

/* Confine the process as a run does that copies its machine. */
static int confine(struct err *err)
{
	const struct sandbox_config config = {.used = 1u << SANDBOX_VCPU | 1u << SANDBOX_INPUT | 1u << SANDBOX_RNG |
						      1u << SANDBOX_BLK | 1u << SANDBOX_COPY};

	return sandbox_enter(&config, err);
}

static int work(struct trial *t, bool forks, struct err *err)
{
	int (*cycles)(struct trial * t, struct life * life, struct err * err) = forks ? fork_all : replace_all;
	struct vm *vm = vm_create(&t->config, err);
	struct life life;

	if (!vm || (forks && confine(err) < 0) || begin_life(&life, vm, err) < 0)
		return -1;
	if (forks)
		sandbox_thread(SANDBOX_COPY);
	if (wait_begin(t, &life) < 0)
		return died(&life, err);
	if (cycles(t, &life, err) < 0)
		return -1;
	if (say_enough(&life) < 0)
		return died(&life, err);
	return end_life(&life, VM_END_POWEROFF, err);
}

static int make_room(struct times *times, unsigned cycles)
{
	times->save_ns = calloc(3 * (size_t)cycles + 1, sizeof(uint64_t));
	if (!times->save_ns)
		return -1;
	times->fork_ns = times->save_ns + cycles;
	times->all_ns = times->fork_ns + cycles;
	return 0;
}

int main(int argc, char **argv)
{
	static struct trial t;
	const struct vmm_disk disk = {.path = argc > 8 ? argv[8] : NULL};
	struct err err = {0};
	bool forks;
	int rc;

	forks = argc > 1 && strcmp(argv[1], "fork") == 0;
	if (argc < (forks ? 8 : 7) || argc > (forks ? 9 : 7) || (!forks && strcmp(argv[1], "replace"))) {
		fprintf(stderr, "usage: snapshots replace KERNEL INITRD APPEND MIB CYCLES\n"
				"       snapshots fork KERNEL INITRD APPEND MIB CYCLES COPIES [DISK]\n");
		return EXIT_USAGE;
	}
	t.cycles = (unsigned)strtoul(argv[6], NULL, 10);
	t.copies_wanted = forks ? (unsigned)strtoul(argv[7], NULL, 10) : 0;
	setvbuf(stderr, NULL, _IOLBF, 0);
	t.rng.state = 1;
	t.smaps = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	if (forks && sandbox_prepare(NULL, NULL, &err) < 0) {
		fprintf(stderr, "snapshots: %s\n", err.text);
		return err.code;
	}
	if (make_room(&t.times, t.cycles) < 0 || open_console(&t.console, "") < 0) {
		perror("snapshots");
		return EXIT_INTERNAL;
	}
	t.config = (struct vmm_config){.kernel = argv[2],
				       .initrd = argv[3],
				       .cmdline = argv[4],
				       .cpus = 2,
				       .memory = strtoull(argv[5], NULL, 10) << 20,
				       .console_out = t.console.out,
				       .console_in = -1,
				       .rng = true,
				       .disks = &disk,
				       .disk_count = argc > 8,
				       .copies = true};
	rc = work(&t, forks, &err);
	if (rc == 0)
		close_console(&t.console);
	else
		fprintf(stderr, "snapshots: %s\n", err.text);
	free(t.times.save_ns);
	return rc == 0 ? EXIT_OK : (int)err.code;
}
