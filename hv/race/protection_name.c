// SPDX-License-Identifier: GPL-2.0-or-later
/* Names the locks and data in the record of which locks protect which data. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hv/race/protection.h"
#include "hv/race/slab_name.h"

/*
 * The first members of a lock's struct, for each kind of lock, in any kernel since 5.10. The member path that is found for a
 * lock's address goes on to the first scalar inside the lock, "i_lock.rlock.raw_lock...". The path is cut before the first of
 * these members, which leaves the path of the lock itself, "i_lock".
 */
static const char *const insides[LOCK_KINDS][4] = {
	[LOCK_SPIN] = {"rlock", "raw_lock", "lock.wait_lock"},
	[LOCK_RWLOCK] = {"raw_lock", "rwbase"},
	[LOCK_MUTEX] = {"owner", "rtmutex"},
	[LOCK_RTMUTEX] = {"rtmutex", "wait_lock"},
	[LOCK_SEMAPHORE] = {"lock", "raw_lock"},
	[LOCK_RWSEM] = {"count", "rwbase"},
	[LOCK_SEQ] = {"seqcount", "sequence"},
};

/*
 * Returns the offset in `path` of the last place where `inside` appears as whole members, or the length of `path` if there is
 * none.
 */
static size_t inside_at(const char *path, const char *inside)
{
	size_t len = strlen(inside), found = strlen(path);

	for (size_t at = 0; path[at]; at++) {
		bool begins = at == 0 || path[at - 1] == '.';

		if (begins && strncmp(path + at, inside, len) == 0 && (path[at + len] == '\0' || path[at + len] == '.'))
			found = at;
	}
	return found;
}

void protection_cut_lock(uint8_t kind, char *member)
{
	size_t end = strlen(member);

	if (kind >= LOCK_KINDS)
		return;
	for (unsigned i = 0; i < 4 && insides[kind][i]; i++) {
		size_t at = inside_at(member, insides[kind][i]);

		end = at < end ? at : end;
	}
	member[end] = '\0';
	if (end && member[end - 1] == '.')
		member[end - 1] = '\0';
}

/* Write the printable name of the memory to `out`. `known`: `member` is valid, and the member "" means the whole variable. */
static void name_memory(const struct guest_memory *m, const char *member, bool known, uint64_t gva, char *out, size_t size)
{
	const char *dot = member[0] ? "." : "";
	char offset[16] = "", cpu[24] = "", slab[SLAB_NAME_MAX];

	/*
	 * Memory without a symbol gets the name of its slab cache. The name of a cache does not say which part of the object is
	 * meant, so add the offset even if the offset is 0.
	 */
	if (m->offset || !m->symbol.name[0])
		snprintf(offset, sizeof(offset), "+0x%" PRIx32, m->offset);
	if (m->kind == GUEST_MEMORY_PER_CPU && m->cpu >= 0)
		snprintf(cpu, sizeof(cpu), " of CPU %d", m->cpu);
	if (known && m->symbol.name[0])
		snprintf(out, size, "%s%s%s%s", m->symbol.name, dot, member, cpu);
	else if (known && m->type[0])
		snprintf(out, size, "%s%s%s", m->type, member[0] ? "->" : offset, member);
	else if (m->symbol.name[0])
		snprintf(out, size, "%s%s%s", m->symbol.name, offset, cpu);
	else if (m->cache[0] && m->object) {
		slab_name(m, slab);
		snprintf(out, size, "%s%s", slab, offset);
	} else {
		snprintf(out, size, "0x%" PRIx64, gva);
	}
}

void protection_lock_name(uint8_t kind, uint64_t gva, const struct guest_memory *memory, char name[LOCK_NAME_MAX])
{
	char member[sizeof(memory->member)];

	/* For an interrupt's handler, `gva` is not an address but the number of the interrupt line (enum handover_kind). */
	if (kind == LOCK_CALLBACK && gva <= UINT32_MAX) {
		snprintf(name, LOCK_NAME_MAX, "interrupt %" PRIu64, gva);
		return;
	}
	snprintf(member, sizeof(member), "%s", memory->member);
	protection_cut_lock(kind, member);
	name_memory(memory, member, memory->member[0] != '\0', gva, name, LOCK_NAME_MAX);
}

void protection_name(struct protection *p)
{
	for (uint32_t i = 0; i < p->lock_count; i++) {
		struct prot_lock *lock = &p->locks[i];

		if (!lock->name[0])
			protection_lock_name(lock->kind, lock->gva, &lock->memory, lock->name);
	}
	for (uint32_t i = 0; i < p->access_count; i++) {
		struct prot_access *a = &p->accesses[i];

		if (!a->name[0])
			name_memory(&a->memory, a->memory.member, a->memory.member[0] != '\0', a->gva, a->name,
				    sizeof(a->name));
	}
}
