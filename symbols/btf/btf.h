/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Structure layouts from BTF (Documentation/bpf/btf.rst), the kernel's own compact type information. The guest's memory holds
 * it between the symbols __start_BTF and __stop_BTF. Layouts are always looked up here and never hard-coded by kernel version.
 *
 * A struct btf does not change once it is made, so it may be asked by several threads at a time without a lock.
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
 * Parse `len` bytes of BTF, which are copied. The content may be hostile: no offset, id or length in it is trusted. Returns
 * NULL with EXIT_INPUT when it is not BTF or corrupt, and with EXIT_INTERNAL when memory is out.
 */
struct btf *btf_parse(const void *blob, size_t len, struct err *err);

/* `btf` may be NULL. */
void btf_free(struct btf *btf);

/*
 * Read the BTF out of the guest's memory and parse it. `kernel` holds run-time addresses and says where the BTF is. Returns
 * NULL with EXIT_INPUT when the kernel was built without BTF, its memory cannot be read yet, or it is not BTF.
 */
struct btf *btf_from_guest(const struct guest_reader *reader, const struct symtab *kernel, struct err *err);

/* Where a member is inside its type. */
struct btf_member {
	uint32_t offset; /* bytes */
	uint32_t size;	 /* bytes; of a bit-field, the bytes that it touches */
	uint8_t bits;	 /* the number of bits of a bit-field; 0 for a member that is none */
	uint8_t shift;	 /* the number of a bit-field's lowest bit in the byte at `offset` */
};

/*
 * Find a member of struct, union or typedef `type` by its path: btf_member(b, "module", "core_layout.base", &m). Anonymous
 * structs and unions are searched through. An element of an array is given by its number, "mem[0].base", or by the name of an
 * enumerator, "mem[MOD_TEXT].base". Returns 0, or -1 when there is no such member.
 */
int btf_member(const struct btf *btf, const char *type, const char *path, struct btf_member *out);

/* The size in bytes of struct, union or typedef `type`; 0 when there is no such type. */
uint32_t btf_sizeof(const struct btf *btf, const char *type);

/*
 * The reverse of btf_member(): write to out[max] the path of the member of struct, union or typedef `type` that an access of
 * `size` bytes at byte `offset` goes to, for example "f_lock.rlock.raw_lock" or "comm[3]".
 *
 * Of a union's members the one that fits the access best is taken, and of several that fit equally the one declared first.
 * Bit-fields that share the accessed bytes are given together, as "{a,b}". Of several members in a row that are accessed, the
 * first is given. The path is "" when the access is to all of the object, or between members. A path that is too long is cut
 * off. Returns 0, or -1 when there is no such type or `offset` is not inside it.
 */
int btf_path_at(const struct btf *btf, const char *type, uint32_t offset, uint32_t size, char *out, size_t max);

/*
 * Do the same for variable `variable`. BTF only knows per-CPU variables. The name of the variable's type is written to
 * type[type_max]; it is "" for a type without a name.
 */
int btf_variable_at(const struct btf *btf, const char *variable, uint32_t offset, uint32_t size, char *type, size_t type_max,
		    char *out, size_t max);

/*
 * Whether function `name` of the kernel image is known to return nothing. Where several functions have the name, all of them
 * have to. Goes through all types: not in a callback for each hit of a sample point.
 */
bool btf_returns_nothing(const struct btf *btf, const char *name);

/* The value of the enumerator `name`, of whatever enum. Returns 0, or -1 when there is none. */
int btf_enumerator(const struct btf *btf, const char *name, int64_t *value);

#endif
