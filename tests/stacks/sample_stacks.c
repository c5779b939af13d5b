// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How well stacks are unwound: boot a guest with the detector attached, unwind the stack at every hit of its random sample
 * points, races or not, and count. Runs where /dev/kvm is real, so in a lab host. Each return address found must follow a call.
 *
 * sample_stacks KERNEL INITRD APPEND RATE SEED LEAST: exit status 0 when there were LEAST samples or more, 99% of them unwound
 * to their beginning without a guess, and no return address was wrong. At the LEAST-th sample the guest's console says "enough
 * busy".
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/detect/detect.h"
#include "hv/report/words.h"
#include "hv/target/kvm/kvm.h"
#include "hv/vmm/probe.h"

#define SHOWN_MAX 20 /* stacks that went wrong */
#define ORIGINS (GUEST_ORIGIN_IDLE + 1)

struct trial {
	struct guest *guest;
	const struct target_client *inner; /* the detector's */
	struct target_client client;
	uint64_t least;
	int console[2];	      /* a pipe: the guest's console reads from it what this program writes to [1] */
	pthread_mutex_t lock; /* of what follows */
	uint64_t samples, unwound, crossed, frames, bad_frames;
	uint64_t origins[ORIGINS];
	unsigned shown;
	uint8_t bytes[GUEST_STACKS_MAX][RACE_STACK_MAX];
	struct guest_calls calls;
	struct guest_frame room[UNWIND_FRAMES_MAX]; /* of `calls` */
};

static uint32_t copy(const struct trial *t, const struct guest_stack *stack, uint8_t *to)
{
	uint64_t len = stack->end - stack->start;
	uint32_t done = 0;

	if (len > RACE_STACK_MAX)
		len = RACE_STACK_MAX;
	while (done < len) {
		uint32_t chunk = X86_PAGE_SIZE - (uint32_t)((stack->start + done) & (X86_PAGE_SIZE - 1));

		if (chunk > len - done)
			chunk = (uint32_t)len - done;
		if (guest_read(t->guest, stack->start + done, to + done, chunk))
			break;
		done += chunk;
	}
	return done;
}

/* Gone since the boot: nothing there to look at. */
static bool init_text(const struct trial *t, uint64_t pc)
{
	const struct symtab *symtab = guest_symtab(t->guest);

	return pc >= symtab_addr(symtab, "_sinittext") && pc < symtab_addr(symtab, "_einittext");
}

/* Direct (e8), or through a register or memory (ff /2) of any length; INT3 where a sample point may be armed before it. */
static bool follows_call(const struct trial *t, uint64_t pc)
{
	uint8_t code[7];

	if (init_text(t, pc))
		return true;
	if (guest_read(t->guest, pc - sizeof(code), code, sizeof(code)))
		return false;
	if (code[2] == 0xe8)
		return true;
	for (size_t i = 0; i + 1 < sizeof(code); i++) {
		if ((code[i] == 0xff || code[i] == X86_INT3) && (code[i + 1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

static void show(const struct trial *t, const struct x86_regs *regs, const struct guest_context *context)
{
	const char *trouble = trouble_phrase(&t->calls);

	printf("# %s, pid %d %s, rsp %" PRIx64 ": %s\n", context_word(context), context->pid, context->comm, regs->gpr[X86_RSP],
	       trouble ? trouble : "a return address that follows no call");
	for (unsigned i = 0; i < t->calls.count; i++) {
		const struct guest_frame *f = &t->calls.frames[i];

		printf("#   %-11s %s %" PRIx64 " %s+0x%" PRIx64 " %s\n", frame_word(f->kind), f->reliable ? " " : "?", f->pc,
		       f->symbol.name[0] ? f->symbol.name : "-", f->symbol.name[0] ? f->pc - f->symbol.addr : 0,
		       f->symbol.module);
	}
}

static void count(struct trial *t, const struct x86_regs *regs, const struct guest_context *context)
{
	const struct guest_calls *calls = &t->calls;
	bool good = calls->origin != GUEST_ORIGIN_UNKNOWN && !calls->guessed, crossed = false;

	static const char enough[] = "enough busy\n";

	if (++t->samples == t->least && write(t->console[1], enough, sizeof(enough) - 1) < 0)
		perror("sample_stacks: the guest's console");
	t->unwound += good;
	t->origins[calls->origin]++;
	for (unsigned i = 0; i < calls->count; i++) {
		/* A CPU's first frame is made by hand. */
		bool first = calls->end == UNWIND_FIRST && i + 1 == calls->count;
		bool bad = !first && calls->frames[i].reliable && calls->frames[i].kind == UNWIND_CALL &&
			   !follows_call(t, calls->frames[i].pc);

		crossed |= calls->frames[i].kind == UNWIND_INTERRUPTED;
		t->frames++;
		t->bad_frames += bad;
		good &= !bad;
	}
	t->crossed += crossed;
	if (!good && t->shown++ < SHOWN_MAX)
		show(t, regs, context);
}

static void take(struct trial *t, const struct x86_regs *regs)
{
	struct guest_stack stacks[GUEST_STACKS_MAX];
	struct unwind_stack copies[GUEST_STACKS_MAX];
	struct guest_context context;
	unsigned n;

	pthread_mutex_lock(&t->lock);
	n = guest_stacks(t->guest, regs, stacks);
	for (unsigned i = 0; i < n; i++)
		copies[i] = (struct unwind_stack){stacks[i].start, t->bytes[i], copy(t, &stacks[i], t->bytes[i])};
	guest_context(t->guest, regs, &context);
	guest_unwind(t->guest, regs, &context, copies, n, &t->calls);
	count(t, regs, &context);
	pthread_mutex_unlock(&t->lock);
}

static struct target_action on_breakpoint(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct trial *t = ctx;
	struct x86_regs before = *regs;
	struct target_action action = t->inner->on_breakpoint(t->inner->ctx, cpu, regs);

	/* Not the guest's own breakpoints, nor places where the detector looks for events. */
	if (action.kind == TARGET_RESUME || action.kind == TARGET_HOLD)
		take(t, &before);
	return action;
}

static struct target_action on_watch(void *ctx, unsigned cpu, struct x86_regs *regs, const uint32_t *cookies, unsigned n)
{
	struct trial *t = ctx;

	return t->inner->on_watch(t->inner->ctx, cpu, regs, cookies, n);
}

static struct target_action on_hold_end(void *ctx, unsigned cpu, struct x86_regs *regs)
{
	struct trial *t = ctx;

	return t->inner->on_hold_end(t->inner->ctx, cpu, regs);
}

static void on_race(void *ctx, const struct observation *o)
{
	(void)ctx;
	(void)o;
}

static void on_message(void *ctx, const char *line)
{
	(void)ctx;
	printf("# %s\n", line);
}

static void on_failed(void *ctx, const struct err *err)
{
	(void)ctx;
	printf("# %s\n", err->text);
}

static int verdict(const struct trial *t)
{
	printf("stacks: %" PRIu64 " samples, %" PRIu64 " unwound to their beginning without a guess (%.2f%%), %" PRIu64
	       " across interrupted contexts; %" PRIu64 " frames, %" PRIu64 " that follow no call;",
	       t->samples, t->unwound, t->samples ? 100.0 * (double)t->unwound / (double)t->samples : 0, t->crossed, t->frames,
	       t->bad_frames);
	for (unsigned i = 0; i < ORIGINS; i++)
		printf(" %s %" PRIu64, i ? origin_word((enum guest_origin)i) : "unknown", t->origins[i]);
	printf("\n");
	return t->samples >= t->least && t->unwound * 100 >= t->samples * 99 && !t->bad_frames ? 0 : 1;
}

/* Everything is given back by our end. */
static int run(struct trial *t, char **argv, struct err *err)
{
	const struct vmm_config config = {.kernel = argv[1],
					  .initrd = argv[2],
					  .cmdline = argv[3],
					  .cpus = 2,
					  .memory = 512u << 20,
					  .console_out = STDERR_FILENO,
					  .console_in = t->console[0]};
	const struct detect_config sampling = {
		.rate = (unsigned)atoi(argv[4]), .seed = strtoull(argv[5], NULL, 10), .delay_ns = 200000};
	const struct detect_sink sink = {.race = on_race, .message = on_message, .failed = on_failed};
	struct host_probe probe;
	struct target *target;
	struct detect *detect;
	struct vm *vm;
	enum vm_end end;

	if (probe_host(&probe, err))
		return -1;
	vm = vm_create(&config, err);
	target = vm ? kvm_target_new(vm, probe.breakpoints == BP_INTERCEPT ? KVM_BP_INTERCEPT : KVM_BP_IDT_GATE, err) : NULL;
	t->guest = target ? guest_new(target, NULL, NULL, err) : NULL;
	detect = t->guest ? detect_new(target, t->guest, &sampling, &sink, err) : NULL;
	if (!detect)
		return -1;
	t->inner = detect_client(detect);
	t->client = (struct target_client){
		.on_breakpoint = on_breakpoint, .on_watch = on_watch, .on_hold_end = on_hold_end, .ctx = t};
	target->client = &t->client;
	if (detect_start(detect, err) || vm_run(vm, kvm_target_callbacks(target), &end, err))
		return -1;
	kvm_target_over(target);
	detect_stop(detect);
	return end == VM_END_POWEROFF ? 0 : err_set(err, EXIT_GUEST, "the guest died: %s", vm_end_detail(vm));
}

int main(int argc, char **argv)
{
	static struct trial t = {.lock = PTHREAD_MUTEX_INITIALIZER, .calls.frames = t.room};
	struct err err = {0};

	if (argc != 7) {
		fprintf(stderr, "usage: sample_stacks KERNEL INITRD APPEND RATE SEED LEAST\n");
		return EXIT_USAGE;
	}
	t.least = strtoull(argv[6], NULL, 10);
	if (pipe2(t.console, O_CLOEXEC)) {
		perror("sample_stacks: pipe");
		return EXIT_INTERNAL;
	}
	if (run(&t, argv, &err)) {
		fprintf(stderr, "sample_stacks: %s\n", err.text);
		return err.code;
	}
	return verdict(&t);
}
