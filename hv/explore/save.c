// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a scenario of a finding (save.h). */
#include "hv/explore/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hv/explore/drive.h"
#include "hv/explore/skip.h"
#include "hv/explore/words.h"
#include "hv/replay/copy_cpu.h"
#include "hv/replay/orders.h"
#include "hv/replay/process.h"
#include "hv/replay/scenario/scenario.h"
#include "hv/sandbox/sandbox.h"

#define NS_PER_S UINT64_C(1000000000)
/*
 * Maximum number of tries to make a scenario whose forced order ends in trouble. The trial ran both sides freely after their
 * two accesses, so the order of their further instructions is not known. In the first and in the last try, the first side goes
 * on alone to the end of its region, and then the other side; in the second try, both sides go on in turns.
 */
#define TRIES 3u
/* Maximum number of instructions of a region: as many as in `outrider run --replay`. */
#define INSTRUCTIONS 20000u
/* Length of the free run after each order. */
#define FREE_NS NS_PER_S

struct save {
	const struct base *base;
	const struct explore_config *config;
	const struct kernel *kernel;
	const struct explore_candidate *candidate;
	const struct explore_trial *trial;
	const struct scenario_facts *facts;
	int fd;
	uint32_t turn; /* instructions in one side's turn after both accesses; 0: the usual number */
	bool last;     /* write the scenario even if its forced order does not end in trouble */
	/* the forced order ended in trouble, too; shared with the parent, which does not trust it, because a guest ran here */
	bool *again;
};

/*
 * Returns which program, 0 or 1, is side `i` of the rendezvous. Side 1 is the program that the schedule holds at its access,
 * and side 0 is the other program, which goes on first.
 */
static unsigned program_of(const struct save *s, unsigned i)
{
	return i ? explore_first(s->trial->schedule) : !explore_first(s->trial->schedule);
}

/* ---- the moment ---- */

static int come_to_moment(const struct save *s, struct drive *d, struct err *err)
{
	const struct explore_side *sides = s->candidate->side;
	unsigned first = explore_first(s->trial->schedule);
	uint64_t ns = s->base->part_ns;

	if (drive_to_access(d, first, &sides[first].access, ns) != DRIVE_THERE)
		return err_set(err, EXIT_INPUT, "%c did not come to its access again", EXPLORE_SIDE_NAMES[first]);
	if (explore_pauses(s->trial->schedule) && !drive_through(d, first, &sides[first], ns))
		return err_set(err, EXIT_INPUT, "%c did not make its access again", EXPLORE_SIDE_NAMES[first]);
	if (drive_to_access(d, !first, &sides[!first].access, ns) != DRIVE_THERE)
		return err_set(err, EXIT_INPUT, "%c does not come to its access while %c is held at its own",
			       EXPLORE_SIDE_NAMES[!first], EXPLORE_SIDE_NAMES[first]);
	return 0;
}

/* ---- the rendezvous ---- */

/*
 * Find where the side's region ends, and store this in `side`: at the return of the side's function or, if `whole` is set, at
 * the return of its outermost function, which is the end of the system call.
 */
static void find_return(const struct guest *guest, bool whole, struct rendezvous_side *side)
{
	const uint64_t rsp = side->regs.gpr[X86_RSP];
	struct guest_frame *frames = calloc(UNWIND_FRAMES_MAX, sizeof(*frames));
	struct guest_calls calls = {.frames = frames};
	uint64_t size = guest_stack_end(&side->regs) - rsp;
	uint8_t *bytes = malloc(size);
	const struct unwind_stack stack = {rsp, bytes, (uint32_t)size};

	if (frames && bytes && guest_read(guest, rsp, bytes, size) == 0)
		guest_unwind(guest, &side->regs, &side->context, &stack, 1, &calls);
	for (unsigned i = 1; i < calls.count && (whole || i == 1); i++) {
		if (!frames[i].reliable || frames[i].kind != UNWIND_CALL)
			break;
		side->return_address = frames[i].pc;
		side->cfa = frames[i].sp;
	}
	free(bytes);
	free(frames);
}

static int describe_side(const struct save *s, struct drive *d, unsigned i, struct rendezvous_side *side, struct err *err)
{
	unsigned cpu = program_of(s, i);
	const struct explore_side *from = &s->candidate->side[cpu];
	struct replay_cpu registers;

	if (copy_get_cpu(&d->copy, cpu, &registers, err) < 0)
		return -1;
	*side = (struct rendezvous_side){.cpu = cpu,
					 .regs = registers.regs,
					 .symbol = from->symbol,
					 .gva = from->access.gva,
					 .size = from->access.size,
					 .rw = from->access.rw,
					 .insn_len = from->access.length};
	if (!copy_at(&d->copy, cpu, side->gva, &side->gpa))
		return err_set(err, EXIT_INPUT, "the memory of the access is not mapped");
	guest_context(s->kernel->guest, &side->regs, &side->context);
	find_return(s->kernel->guest, i == 0 && explore_pauses(s->trial->schedule), side);
	return 0;
}

static int describe(const struct save *s, struct drive *d, struct scenario *out, struct err *err)
{
	const struct guest *guest = s->kernel->guest;

	*out = (struct scenario){
		.ram = s->base->ram,
		.rendezvous = {.number = s->trial->number},
		.config = {.instructions = INSTRUCTIONS,
			   .free_ns = FREE_NS,
			   .sleep = guest_sleep_function(guest),
			   .loglevel_gpa = guest_console_level(guest),
			   .turn = s->turn,
			   .paused = explore_pauses(s->trial->schedule)},
		.facts = *s->facts,
	};
	for (unsigned i = 0; i < 2; i++) {
		struct rendezvous_side *side = &out->rendezvous.sides[i];

		if (describe_side(s, d, i, side, err) < 0)
			return -1;
		out->config.result_unused[i] = guest_returns_nothing(guest, &side->symbol);
	}
	return vm_state_save(d->copy.vm, 0, &out->state, err);
}

/* ---- the scenario ---- */

/* Run both orders, and write the scenario if its forced order ends in trouble, or if s->last is set. */
static int run_and_write(const struct save *s, struct scenario *scenario, struct err *err)
{
	const struct run_plan plan = {.state = &scenario->state,
				      .rendezvous = &scenario->rendezvous,
				      .config = &scenario->config,
				      .ram = scenario->ram,
				      .cpus = s->base->cpus,
				      .kvm_fd = s->base->kvm_fd};
	struct replay_instance *instance = &scenario->facts.instance;

	orders_prepare_ram(&plan.ram, plan.rendezvous, plan.config);
	orders_run(&plan, instance);
	if (instance->outcome == REPLAY_FAILURE && instance->why == REPLAY_CANNOT_LOAD)
		return err_set(err, EXIT_INTERNAL, "a copy could not be run: %.150s", instance->why_text);
	*s->again = replay_in_trouble(&instance->orders[0]);
	return *s->again || s->last ? scenario_write(s->fd, scenario, err) : 0;
}

/*
 * Body of the process that makes the scenario. This process was forked, so its changes to the base's RAM do not reach the
 * parent. The copy of the machine runs on this RAM until both sides are at the moment that the scenario contains. So base->ram
 * then has the contents of the RAM at this moment, and becomes the RAM of the scenario (describe()).
 */
static int save(void *ctx, struct err *err)
{
	const struct save *s = ctx;
	struct scenario scenario = {0};
	struct drive d;
	int rc = -1;

	sandbox_thread(SANDBOX_COPY);
	if (drive_open(&d, s->base, err) == 0 && come_to_moment(s, &d, err) == 0)
		rc = describe(s, &d, &scenario, err);
	drive_close(&d);
	if (rc == 0)
		rc = run_and_write(s, &scenario, err);
	vm_state_free(&scenario.state);
	return rc;
}

static void describe_facts(const struct save *s, struct scenario_facts *f)
{
	const struct guest *guest = s->kernel->guest;
	const uint8_t *id;
	size_t len = guest_build_id(guest, &id);

	*f = (struct scenario_facts){0};
	scenario_describe_kernel(f, guest_banner(guest), id, len, guest_slide(guest));
	scenario_date(f);
	for (unsigned i = 0; i < 2; i++)
		explore_site_name(&s->candidate->side[program_of(s, i)], f->slide, f->site[i]);
	race_id(f->site[0], f->site[1], f->race);
}

static int try(struct save *s, struct explore_trial *t, const char *name, struct err *err)
{
	const struct explore_saver *saver = s->config->saver;
	const struct replay_config config = {.free_ns = FREE_NS};
	bool kept = false;
	struct err why = {0};

	*s->again = false;
	s->fd = saver->file(saver->ctx);
	if (s->fd < 0)
		return err_set(err, EXIT_INPUT, "there is no file for it");
	/* Keep no scenario of a process that failed: it may have written only a part. */
	if (process_run(save, s, (ORDERS_RUNS + 1) * orders_run_seconds(&config), &why) < 0)
		name = NULL;
	if (saver->take(saver->ctx, name, &kept, err) < 0)
		return -1;
	if (!kept)
		return err_set(err, EXIT_INPUT, "%.200s", why.text[0] ? why.text : "its first order ends without trouble");
	snprintf(t->scenario, sizeof(t->scenario), "%s", name);
	t->again = *(volatile unsigned char *)s->again != 0;
	return 0;
}

int save_finding(const struct base *base, const struct explore_config *config, const struct kernel *kernel,
		 const struct explore_candidate *c, struct explore_trial *t, struct err *err)
{
	struct save s = {.base = base, .config = config, .kernel = kernel, .candidate = c, .trial = t};
	struct scenario_facts facts;
	char name[EXPLORE_FILE_MAX];
	int rc = -1;

	s.again = mmap(NULL, sizeof(*s.again), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s.again == MAP_FAILED)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	describe_facts(&s, &facts);
	s.facts = &facts;
	snprintf(name, sizeof(name), "%s-%s.scenario", facts.race, explore_schedule_word(t->schedule));
	for (unsigned i = 0; i < TRIES && rc < 0; i++) {
		s.turn = i % 2 ? 0 : INSTRUCTIONS;
		s.last = i + 1 == TRIES || t->outcome != EXPLORE_COMPLAINT;
		*err = (struct err){0};
		rc = try(&s, t, name, err);
	}
	munmap(s.again, sizeof(*s.again));
	return rc;
}
