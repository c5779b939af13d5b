// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rule for safe flag updates (DataCollider, section 3.3). One side uses some bits of a word, and the other side rewrites
 * the word to change other bits. Two writers are never safe, because the store of one undoes the store of the other
 * (DataCollider, figure 1).
 */
#include <inttypes.h>

#include "pruner/rules/rules.h"

/*
 * The bits that the reader uses and those that the writer changes. Bit 0 is bit 0 of the byte at `start`, the lower of the two
 * sides' addresses.
 */
struct bits {
	uint64_t used, changed;
	uint64_t start; /* GVA of bit 0 */
};

static bool shifted(const struct view_side *s, uint64_t start, uint64_t mask, uint64_t *out)
{
	uint64_t bytes = s->side->gva - start;

	if (bytes >= sizeof(*out) || s->side->size > sizeof(*out) - bytes)
		return false;
	*out = mask << 8 * bytes;
	return true;
}

/*
 * Returns the bits that the reader uses. If the datum is a bit field, only the bits of that field count, although the code
 * loads a whole word.
 */
static uint64_t used_bits(const struct view_side *reader)
{
	const struct datum_name *d = reader->datum;
	uint64_t used = reader->read.used;

	if (d && !d->guess && d->bit_size && d->bit_offset + d->bit_size <= 64)
		used &= (~0ull >> (64 - d->bit_size)) << d->bit_offset;
	return used;
}

static bool bits_of(const struct view_side *reader, const struct view_side *writer, struct bits *out)
{
	out->start = reader->side->gva < writer->side->gva ? reader->side->gva : writer->side->gva;
	return shifted(reader, out->start, used_bits(reader), &out->used) &&
	       shifted(writer, out->start, writer->write.changed, &out->changed);
}

/*
 * Returns the index of the held side. The values of an instance are those of the memory that the held side accessed. The
 * instance does not record which side was held, so the size and the address of the accesses decide. Returns -1 if neither side
 * fits, or if both fit and their addresses differ.
 */
static int held_side(const struct view *v, const struct race_instance *instance)
{
	bool fits[2];

	for (unsigned i = 0; i < 2; i++) {
		const struct race_side *s = v->side[i].side;

		/*
		 * An instance may be on another object than the first instance, so its address may differ from that of the
		 * first instance. But the access is at the same offset in a word of 8 bytes.
		 */
		fits[i] = instance->data_len == s->size && (instance->gva - s->gva) % sizeof(uint64_t) == 0;
	}
	if (fits[0] && fits[1] && v->side[0].side->gva != v->side[1].side->gva)
		return -1;
	return fits[0] ? 0 : fits[1] ? 1 : -1;
}

/* Returns whether no bit that the reader uses changed in any instance. */
static bool observed(const struct view *v, const struct bits *bits)
{
	uint64_t before, after, changed;

	for (unsigned i = 0; i < v->race->kept; i++) {
		const struct race_instance *instance = &v->race->instances[i];
		int held = held_side(v, instance);

		if (held < 0 || !view_values(instance, &before, &after) ||
		    !shifted(&v->side[held], bits->start, before ^ after, &changed) || changed & bits->used)
			return false;
	}
	return true;
}

bool rule_flags(const struct view *v, struct verdict *out)
{
	unsigned r = v->side[0].writes ? 1 : 0;
	const struct view_side *reader = &v->side[r], *writer = &v->side[!r];
	struct bits bits;

	if (!reader->followed || !writer->followed || reader->writes || !reader->reads || !writer->writes ||
	    reader->read.written_back || !writer->write.merges || !bits_of(reader, writer, &bits))
		return false;
	if (!bits.used || !bits.changed || bits.used & bits.changed || !observed(v, &bits))
		return false;
	out->class = VERDICT_BENIGN;
	out->rule = RULE_SAFE_FLAG_UPDATE;
	verdict_evidence(out,
			 "%s uses only the bits 0x%" PRIx64 " of %s; %s changes only the bits 0x%" PRIx64
			 ", and writes back the other bits as it read them; in %u instance%s, no bit that %s uses changed",
			 view_function(reader), bits.used, v->datum, view_function(writer), bits.changed, v->race->kept,
			 v->race->kept == 1 ? "" : "s", view_function(reader));
	return true;
}
