/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of one module that the guest has loaded. */
#ifndef OUTRIDER_SYMBOLS_MODULES_MODULE_H
#define OUTRIDER_SYMBOLS_MODULES_MODULE_H

#include <stddef.h>
#include <stdint.h>

#define MODULE_NAME_MAX 64     /* bytes with the final NUL; the kernel's MODULE_NAME_LEN is 56 */
#define MODULE_BUILD_ID_MAX 20 /* bytes */

/* The values are those of enum module_state in include/linux/module.h. */
enum module_state { MODULE_LIVE, MODULE_COMING, MODULE_GOING };

/* All addresses are GVAs, all sizes are in bytes. A range that does not exist has address and size 0. */
struct module_info {
	char name[MODULE_NAME_MAX]; /* printable, without blanks and slashes */
	enum module_state state;
	uint64_t addr;			    /* of its struct module */
	uint64_t text, text_size;	    /* the core text */
	uint64_t init_text, init_text_size; /* does not exist, or no longer, when the init text has been freed */
	uint64_t noinstr, noinstr_size;	    /* section .noinstr.text, which lies inside text */
	uint64_t kprobes, kprobes_size;	    /* section .kprobes.text, which must not be probed and lies inside text */
	uint8_t build_id[MODULE_BUILD_ID_MAX];
	size_t build_id_len; /* in bytes; 0 when the build id is not known */
};

#endif
