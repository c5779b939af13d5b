/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The structs in the guest's memory, as far as debug files give the types of pointers that instructions used. A pointee is a
 * struct at an address, in one lifetime of the object that contains it.
 *
 * No locks: one thread at a time.
 */
#ifndef OUTRIDER_REPORT_NAMING_POINTEES_H
#define OUTRIDER_REPORT_NAMING_POINTEES_H

#include "hv/race/lock_moment.h"
#include "hv/race/protection.h"
#include "hv/report/naming/image.h"

/* Lifetime of a pointee or an access whose lifetime is unknown. It matches every lifetime. */
#define POINTEE_ANY_LIFE UINT32_MAX

/* An instruction that accessed `size` bytes at `gva` through its base register. */
struct pointer_use {
	const char *site; /* by site_name() */
	uint64_t pc, gva;
	uint32_t size; /* in bytes */
	struct base_register base;
	const struct guest_memory *memory; /* describes the memory at `gva` */
	uint32_t life;			   /* the `life` of struct prot_access, or POINTEE_ANY_LIFE */
};

struct pointees;

/* A member of the struct `owner`, whose name is without "struct ". */
struct pointee_member {
	char owner[64];
	char member[DEBUGINFO_PATH_MAX / 2];
	uint64_t owner_size; /* size of the struct in bytes */
};

/* Returns an empty set, or NULL if memory runs out. `n` must outlive the set. */
struct pointees *pointees_new(const struct naming *n);

/* Free the set. `p` may be NULL. */
void pointees_free(struct pointees *p);

/*
 * Learn the pointee of the use's pointer, if debug files give its type for certain. The debug files are asked only once for
 * each instruction and distance from the pointer to the access. Returns 0, or -1 if memory runs out.
 */
int pointees_learn(struct pointees *p, const struct pointer_use *use);

/* Call once after all pointees_learn(): sorts the pointees and marks those that contradict each other. */
void pointees_sort(struct pointees *p);

/*
 * Find the largest known struct that contains the `size` bytes at `gva` in the lifetime `life` (POINTEE_ANY_LIFE: in any
 * lifetime), and the member at these bytes. `memory` describes `gva`. If no instruction used a pointer to such a struct, the
 * slab cache may help: if the cache is named like a struct, and one of its objects was seen to be that struct, all objects of
 * the cache are taken for that struct. Returns false if there is no such struct, or if pointers contradict each other around
 * these bytes.
 */
bool pointees_at(struct pointees *p, uint64_t gva, uint32_t size, const struct guest_memory *memory, uint32_t life,
		 struct pointee_member *out);

/* Returns the name after "struct " or "union " of a type from debug files, or NULL if the type has no name. */
const char *pointee_tag(const char *owner);

#endif
