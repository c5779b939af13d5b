/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions that depend on a loaded value. The three kinds are those of the Linux memory model: control, address and
 * data dependencies (tools/memory-model/Documentation/glossary.txt in Linux).
 */
#ifndef OUTRIDER_PRUNER_CODE_FLOW_DEPENDENCY_H
#define OUTRIDER_PRUNER_CODE_FLOW_DEPENDENCY_H

#include "pruner/code/code.h"

struct flow_dependencies {
	/* control[i]: instruction i is a conditional jump, and its condition depends on the value. */
	bool control[RACE_CODE_MAX];
	/* address[i]: instruction i makes an access, and its address depends on the value. */
	bool address[RACE_CODE_MAX];
	/* data[i]: instruction i is a store, and the stored value depends on the loaded value. */
	bool data[RACE_CODE_MAX];
};

/*
 * Add to *out the instructions that depend on the value that instruction `i` loads. The search follows registers and flags
 * only. It misses dependencies through memory and through other functions.
 */
void flow_dependencies(const struct code *code, unsigned i, struct flow_dependencies *out);

#endif
