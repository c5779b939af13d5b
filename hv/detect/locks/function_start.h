/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where a hook at the start of a function can be: at an instruction before which the function has changed neither its
 * arguments nor the stack pointer, so the hook still sees the arguments and the return address.
 */
#ifndef OUTRIDER_DETECT_LOCKS_FUNCTION_START_H
#define OUTRIDER_DETECT_LOCKS_FUNCTION_START_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/guest/guest.h"
#include "symbols/insn/insn.h"

struct detect;

/*
 * Store in *out the function's first instruction that can be emulated, at most HANDOVER_PROLOGUE bytes after its start. `code`
 * is the function's code, symbol->size bytes. Returns false if an earlier instruction may write RSP or an argument register of
 * `arguments` (bits of enum x86_gpr), or leaves the function. Called on the sampler's thread.
 */
bool function_start(const struct detect *d, const struct guest_symbol *symbol, const uint8_t *code, uint16_t arguments,
		    struct insn *out);

#endif
