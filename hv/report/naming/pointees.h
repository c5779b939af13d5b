/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which structs are where in the guest's memory, as far as debug files say so of the pointers that instructions went through: a
 * pointee is a struct at an address, in one life of the object around it.
 *
 * No locks: one thread at a time.
 */
#ifndef OUTRIDER_REPORT_NAMING_POINTEES_H
#define OUTRIDER_REPORT_NAMING_POINTEES_H

#include "hv/race/lock_moment.h"
#include "hv/race/protection.h"
#include "hv/report/naming/image.h"

/* The life of a pointee that may be of any life. */
#define POINTEE_ANY_LIFE UINT32_MAX

/* An instruction that found `size` bytes at `gva` by its base register. */
struct pointer_use {
	const char *site; /* By site_name(). */
	uint64_t pc, gva;
	uint32_t size; /* Bytes. */
	struct base_register base;
	const struct guest_memory *memory; /* What is at `gva`. */
	uint32_t life;			   /* As in struct prot_access, or POINTEE_ANY_LIFE. */
};

struct pointees;

/* A member of the struct `owner`, which is its name without "struct ". */
struct pointee_member {
	char owner[64];
	char member[DEBUGINFO_PATH_MAX / 2];
	uint64_t owner_size; /* Bytes of the struct. */
};

/* None yet. `n` must outlive them. NULL: memory ran out. */
struct pointees *pointees_new(const struct naming *n);

/* NULL is allowed. */
void pointees_free(struct pointees *p);

/*
 * Learn what the use's pointer points to, if debug files know it for sure. Uses by one instruction at one distance are looked
 * up once. 0, or -1: memory ran out.
 */
int pointees_learn(struct pointees *p, const struct pointer_use *use);

/* Call it once, when all is learnt: it finds what disagrees. */
void pointees_sort(struct pointees *p);

/*
 * The largest known struct that contains the `size` bytes at `gva`, of that life or, with POINTEE_ANY_LIFE, of any one, and
 * its member there. `memory` is what is at `gva`. Where no pointer was seen, a slab cache that is called as a struct which one
 * of its objects was seen to be has such objects only. False: there is none, or pointers disagree about what is around these
 * bytes.
 */
bool pointees_at(struct pointees *p, uint64_t gva, uint32_t size, const struct guest_memory *memory, uint32_t life,
		 struct pointee_member *out);

/* The name behind "struct " or "union " of a type that debug files have named so. NULL: it has none. */
const char *pointee_tag(const char *owner);

#endif
