/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about one module that the guest has loaded. */
#ifndef OUTRIDER_SYMBOLS_MODULES_MODULE_H
#define OUTRIDER_SYMBOLS_MODULES_MODULE_H

#include <stddef.h>
#include <stdint.h>

#define MODULE_NAME_MAX 64     /* bytes, including the NUL; the kernel's MODULE_NAME_LEN is 56 */
#define MODULE_BUILD_ID_MAX 20 /* bytes */

/* Values as in enum module_state of include/linux/module.h. */
enum module_state { MODULE_LIVE, MODULE_COMING, MODULE_GOING };

/* Addresses are GVAs, sizes are bytes. A missing range has address and size 0. */
struct module_info {
	char name[MODULE_NAME_MAX]; /* printable, without blanks and slashes */
	enum module_state state;
	uint64_t addr;			    /* address of the module's struct module */
	uint64_t text, text_size;	    /* the core text */
	uint64_t init_text, init_text_size; /* missing once the kernel has freed the init text */
	uint64_t noinstr, noinstr_size;	    /* section .noinstr.text, inside text */
	uint64_t kprobes, kprobes_size;	    /* section .kprobes.text, inside text; must not be probed */
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	size_t build_id_len; /* bytes; 0 if the build id is unknown */
};

#endif
