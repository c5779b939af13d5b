/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Structure layouts from BTF (Documentation/bpf/btf.rst), the kernel's own compact type information, as found in guest memory
 * between __start_BTF and __stop_BTF. Layouts are looked up, never hard-coded by version.
 */
#ifndef OUTRIDER_SYMBOLS_BTF_BTF_H
#define OUTRIDER_SYMBOLS_BTF_BTF_H

#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"

struct btf;
struct symtab;

/* Parse a BTF blob (copied). Checked against hostile content: no offset, id or length in it is trusted. */
struct btf *btf_parse(const void *blob, size_t len, struct err *err);
void btf_free(struct btf *btf);

/*
 * Read the blob out of the guest's memory, from where `kernel` (run-time addresses) says it is, and parse it. NULL with
 * EXIT_INPUT: a kernel built without BTF, its memory not readable yet, or not BTF.
 */
struct btf *btf_from_guest(const struct guest_reader *reader, const struct symtab *kernel, struct err *err);

struct btf_member {
	uint32_t offset; /* bytes */
	uint32_t size;	 /* bytes; of the bit-field's bytes if it is one */
	uint8_t bits;	 /* of the bit-field, and */
	uint8_t shift;	 /* its lowest bit in the byte at offset; bits 0: no bit-field */
};

/*
 * Member by path: btf_member(b, "module", "core_layout.base", &m). Anonymous structs and unions are searched through; arrays
 * are indexed as "mem[0].base" (also an enumerator's name: "mem[MOD_TEXT].base"). 0, or -1 when there is no such thing.
 */
int btf_member(const struct btf *btf, const char *type, const char *path, struct btf_member *out);

/* sizeof(struct|union type), or 0. */
uint32_t btf_sizeof(const struct btf *btf, const char *type);

/*
 * The way back: the member of struct or union `type` that an access of `size` bytes at `offset` is to, as btf_member() would
 * want it: "f_lock.rlock.raw_lock", "comm[3]". Of a union's members the one that fits best, then the one declared first;
 * bit-fields that share the bytes as "{a,b}"; of several members the first; "" when it is to all of the object, or between
 * members. Cut off at `max`. 0, or -1: no such type, or not inside it.
 */
int btf_path_at(const struct btf *btf, const char *type, uint32_t offset, uint32_t size, char *out, size_t max);

/*
 * The same for a variable that BTF knows, which are the per-CPU ones; and the name of its type into type[type_max], "" where
 * that has none.
 */
int btf_variable_at(const struct btf *btf, const char *variable, uint32_t offset, uint32_t size, char *type, size_t type_max,
		    char *out, size_t max);

/* Value of an enumerator by name; 0 or -1. */
int btf_enumerator(const struct btf *btf, const char *name, int64_t *value);

#endif
