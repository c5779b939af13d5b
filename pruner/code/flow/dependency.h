/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions that depend on a loaded value. The three kinds are those of the Linux memory model: control, address and
 * data dependencies (tools/memory-model/Documentation/glossary.txt in Linux).
 */
#ifndef OUTRIDER_PRUNER_CODE_FLOW_DEPENDENCY_H
#define OUTRIDER_PRUNER_CODE_FLOW_DEPENDENCY_H

#include "pruner/code/code.h"

struct flow_dependencies {
	bool control[RACE_CODE_MAX]; /* A conditional jump whose condition depends on the value. */
	bool address[RACE_CODE_MAX]; /* An access whose address depends on the value. */
	bool data[RACE_CODE_MAX];    /* A store whose value depends on the loaded value. */
};

/*
 * Add to *out the instructions that depend on the value that instruction `i` loads. The search follows registers and flags
 * only. It misses dependencies through memory and through other functions.
 */
void flow_dependencies(const struct code *code, unsigned i, struct flow_dependencies *out);

#endif
