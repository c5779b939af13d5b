/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Structure layouts from BTF (Documentation/bpf/btf.rst), the compact type information of the kernel. In guest memory it lies
 * between the symbols __start_BTF and __stop_BTF. Outrider looks up every layout here and hard-codes none by kernel version.
 *
 * A struct btf is immutable, so several threads may query it at the same time without a lock.
 */
#ifndef OUTRIDER_SYMBOLS_BTF_BTF_H
#define OUTRIDER_SYMBOLS_BTF_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "hv/base/guest_reader.h"

struct btf;
struct symtab;

/*
 * Parse a copy of `len` bytes of BTF. The content may be hostile: no offset, id or length in it is trusted. Returns NULL with
 * EXIT_INPUT if it is not BTF or is corrupt, and with EXIT_INTERNAL if memory runs out. Free the result with btf_free().
 */
struct btf *btf_parse(const void *blob, size_t len, struct err *err);

/* Free the type information. `btf` may be NULL. */
void btf_free(struct btf *btf);

/*
 * Read the BTF from the guest's memory and parse it. `kernel` has run-time addresses and locates the BTF. Returns NULL with
 * EXIT_INPUT if the kernel was built without BTF, its memory is not readable yet, or the content is not BTF.
 */
struct btf *btf_from_guest(const struct guest_reader *reader, const struct symtab *kernel, struct err *err);

/* The place of a member inside its type. */
struct btf_member {
	uint32_t offset; /* bytes */
	uint32_t size;	 /* bytes; for a bit-field, all bytes that it touches */
	uint8_t bits;	 /* width of a bit-field in bits; 0 for any other member */
	uint8_t shift;	 /* index of a bit-field's lowest bit in the byte at `offset` */
};

/*
 * Find a member of struct, union or typedef `type` by its path: btf_member(b, "module", "core_layout.base", &m). Members of
 * anonymous structs and unions are found as in C. An array element is selected by its number, "mem[0].base", or by an
 * enumerator's name, "mem[MOD_TEXT].base". Returns 0, or -1 if there is no such member.
 */
int btf_member(const struct btf *btf, const char *type, const char *path, struct btf_member *out);

/* Returns the size in bytes of struct, union or typedef `type`, or 0 if there is no such type. */
uint32_t btf_sizeof(const struct btf *btf, const char *type);

/*
 * The reverse of btf_member(). Writes to out[max] the path of the member of struct, union or typedef `type` that an access of
 * `size` bytes at byte `offset` touches, for example "f_lock.rlock.raw_lock" or "comm[3]".
 *
 * In a union, the path names the member that fits the access best. If several members fit equally well, the path names the one
 * that is declared first. Bit-fields that share the accessed bytes are listed together: "{a,b}". If the access covers several
 * adjacent members, the path names the first. The path is "" if the access covers the whole object or lies between members. A
 * path that does not fit is truncated. Returns 0, or -1 if there is no such type or `offset` is outside it.
 */
int btf_path_at(const struct btf *btf, const char *type, uint32_t offset, uint32_t size, char *out, size_t max);

/*
 * As btf_path_at(), but for an access at byte `offset` of the variable `variable`. BTF describes only per-CPU variables. Writes
 * the name of the variable's type to type[type_max], or "" if the type has no name.
 */
int btf_variable_at(const struct btf *btf, const char *variable, uint32_t offset, uint32_t size, char *type, size_t type_max,
		    char *out, size_t max);

/*
 * Returns true if BTF shows that function `name` of the kernel image returns void. If several functions have this name, all
 * must return void. Scans all types, so do not call it when handling a hit.
 */
bool btf_returns_nothing(const struct btf *btf, const char *name);

/* Returns whether BTF has functions of this name, and all of them return a value. */
bool btf_returns_value(const struct btf *btf, const char *name);

/* Find the value of the first enumerator with this name, in any enum. Returns 0, or -1 if there is no such enumerator. */
int btf_enumerator(const struct btf *btf, const char *name, int64_t *value);

#endif
