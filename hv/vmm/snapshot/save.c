/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "hv/vmm/snapshot/internal.h"
#include "hv/vmm/snapshot/snapshot.h"

static int save_machine(struct vm *vm, unsigned held, const struct moment *at, struct block_writer *w, struct err *err)
{
	struct block_machine machine = {.cpus = vm->cpus, .memory = vm->ram.low + vm->ram.high};

	if (clock_save(vm, at, &machine, err) < 0 || cpu_is_intel(&vm->vcpu[0], &machine.intel, err) < 0)
		return -1;
	block_put(w, SECTION_MACHINE, 0, &machine, sizeof(machine));
	for (unsigned i = 0; i < vm->cpus; i++)
		if (cpu_save(&vm->vcpu[i], held >> i & 1, w, err) < 0 || cpu_time_save(&vm->vcpu[i], at, w, err) < 0)
			return -1;
	return chips_save(vm, w, err);
}

int vm_state_save(struct vm *vm, unsigned held, struct vm_state *state, struct err *err)
{
	struct block_writer w = {0};
	struct moment at = moment_now();
	int rc;

	workers_pause(&vm->workers);
	rc = save_machine(vm, held, &at, &w, err);
	if (rc == 0)
		parts_save(vm, &at, &w);
	workers_resume(&vm->workers);
	if (rc == 0)
		return block_end(&w, state, err);
	block_drop(&w);
	return -1;
}

void vm_state_free(struct vm_state *state)
{
	free(state->data);
	*state = (struct vm_state){0};
}

int vm_state_check(const struct vm_state *state, struct vm_state_facts *facts, struct err *err)
{
	struct block block;

	if (block_open(state, &block, err) < 0)
		return -1;
	*facts = (struct vm_state_facts){
		.cpus = block.machine.cpus, .memory = block.machine.memory, .intel = block.machine.intel};
	return 0;
}
