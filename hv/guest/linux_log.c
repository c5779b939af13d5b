// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the ring buffer of printk() in a Linux guest's memory (linux_log.h). */
#include "hv/guest/linux_log.h"

#include <string.h>

#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_members.h"

/*
 * Upper limits for the sizes that the guest's memory gives for its ring. Stock kernels have 4096 descriptors or more, and 128
 * KiB to 2 MiB of text.
 */
#define COUNT_BITS_MAX 24
#define SIZE_BITS_MAX 30
#define STRUCT_MAX 512 /* at most this many bytes of a structure of the ring are read */
#define RECORDS_MAX 512

/* A descriptor's state is in the two upper bits of its state word, and its id is in the rest (DESC_FLAGS_SHIFT). */
#define STATE_SHIFT 62
#define ID_MASK ((1ull << STATE_SHIFT) - 1)
enum { STATE_RESERVED = 0, STATE_COMMITTED = 1 }; /* in the other two states, the record is whole */

/* Returns how far id `a` is after id `b`. Ids begin near their maximum (DESC0_ID) and wrap to 0. */
static int64_t distance(uint64_t a, uint64_t b)
{
	return (int64_t)((a - b) << (64 - STATE_SHIFT)) >> (64 - STATE_SHIFT);
}

static bool known(const struct btf_member *m)
{
	return m->size != 0;
}

static int read_bits(struct guest *g, uint64_t ring, const char *path, unsigned max, unsigned *out)
{
	struct btf_member m;
	uint64_t value;

	linux_find_member(g, "printk_ringbuffer", path, STRUCT_MAX, &m);
	if (linux_read_member(g, ring, &m, &value) || value < 1 || value > max)
		return -1;
	*out = (unsigned)value;
	return 0;
}

static int read_pointer(struct guest *g, uint64_t ring, const char *path, uint64_t *out)
{
	struct btf_member m;

	linux_find_member(g, "printk_ringbuffer", path, STRUCT_MAX, &m);
	return linux_read_member(g, ring, &m, out) || !x86_kernel_address(*out) ? -1 : 0;
}

static bool find_layout(struct guest *g, struct linux_log *l)
{
	linux_find_member(g, "printk_ringbuffer", "desc_ring.head_id", STRUCT_MAX, &l->head_id);
	linux_find_member(g, "prb_desc", "state_var", STRUCT_MAX, &l->state);
	linux_find_member(g, "prb_desc", "text_blk_lpos.begin", STRUCT_MAX, &l->begin);
	linux_find_member(g, "prb_desc", "text_blk_lpos.next", STRUCT_MAX, &l->next);
	linux_find_member(g, "printk_info", "seq", STRUCT_MAX, &l->seq);
	linux_find_member(g, "printk_info", "ts_nsec", STRUCT_MAX, &l->ts_ns);
	linux_find_member(g, "printk_info", "text_len", STRUCT_MAX, &l->text_len);
	linux_find_member(g, "printk_info", "caller_id", STRUCT_MAX, &l->caller);
	linux_find_member(g, "printk_info", "facility", STRUCT_MAX, &l->facility);
	l->desc_size = btf_sizeof(g->btf, "prb_desc");
	l->info_size = btf_sizeof(g->btf, "printk_info");
	return known(&l->head_id) && known(&l->state) && known(&l->begin) && known(&l->next) && known(&l->seq) &&
	       known(&l->ts_ns) && known(&l->text_len) && l->desc_size && l->desc_size <= STRUCT_MAX && l->info_size &&
	       l->info_size <= STRUCT_MAX;
}

void linux_find_log(struct guest *g, struct linux_log *out)
{
	uint64_t at = symtab_addr(g->symtab, "prb"), ring = 0;
	struct linux_log l = {0};

	*out = (struct linux_log){0};
	if (!g->btf || !at || guest_read(g, at, &ring, sizeof(ring)) || !x86_kernel_address(ring) || !find_layout(g, &l))
		return;
	if (read_bits(g, ring, "desc_ring.count_bits", COUNT_BITS_MAX, &l.count_bits) ||
	    read_bits(g, ring, "text_data_ring.size_bits", SIZE_BITS_MAX, &l.size_bits) ||
	    read_pointer(g, ring, "desc_ring.descs", &l.descs) || read_pointer(g, ring, "desc_ring.infos", &l.infos) ||
	    read_pointer(g, ring, "text_data_ring.data", &l.data))
		return;
	l.ring = ring;
	*out = l;
}

/* ---- one record ---- */

struct desc {
	unsigned state;
	uint64_t id, begin, next;
};

static int read_desc(struct guest *g, const struct linux_log *l, uint64_t id, struct desc *out)
{
	uint64_t at = l->descs + (id & ((1ull << l->count_bits) - 1)) * l->desc_size, state;

	if (linux_read_member(g, at, &l->state, &state) || linux_read_member(g, at, &l->begin, &out->begin) ||
	    linux_read_member(g, at, &l->next, &out->next))
		return -1;
	out->state = (unsigned)(state >> STATE_SHIFT);
	out->id = state & ID_MASK;
	return 0;
}

/*
 * Find the text of a record: *len bytes at *offset of the text ring. Each record has one block in the text ring, which consists
 * of the id of the record's descriptor and the text. The kernel puts a block at the start of the ring if the block does not
 * fit before the end of the ring. Returns -1 if the record has no text.
 */
static int find_text(const struct linux_log *l, const struct desc *d, uint64_t *offset, uint64_t *len)
{
	const uint64_t size = 1ull << l->size_bits, mask = size - 1;

	if (d->begin & 1) /* FAILED_LPOS or EMPTY_LINE_LPOS */
		return -1;
	if (d->begin >> l->size_bits == d->next >> l->size_bits) {
		*offset = d->begin & mask;
		*len = d->next - d->begin;
	} else {
		*offset = 0;
		*len = d->next & mask;
		/* A block may end exactly at the end of the ring. */
		if (*len == 0) {
			*offset = d->begin & mask;
			*len = size - *offset;
		}
	}
	if (*len < sizeof(uint64_t) || *len > size - *offset)
		return -1;
	*offset += sizeof(uint64_t);
	*len -= sizeof(uint64_t);
	return 0;
}

static int read_text(struct guest *g, const struct linux_log *l, const struct desc *d, struct linux_log_record *r)
{
	uint64_t info = l->infos + (d->id & ((1ull << l->count_bits) - 1)) * l->info_size, offset, len, said, caller = 0,
		 facility = 0;

	if (find_text(l, d, &offset, &len) || linux_read_member(g, info, &l->seq, &r->seq) ||
	    linux_read_member(g, info, &l->ts_ns, &r->ts_ns) || linux_read_member(g, info, &l->text_len, &said))
		return -1;
	if (known(&l->caller) && linux_read_member(g, info, &l->caller, &caller) == 0)
		r->caller = (uint32_t)caller;
	if (known(&l->facility) && linux_read_member(g, info, &l->facility, &facility) == 0)
		r->by_user = facility != 0;
	r->len = said < len ? said : len;
	if (r->len > sizeof(r->text))
		r->len = sizeof(r->text);
	return r->len ? guest_read(g, l->data + offset, r->text, r->len) : 0;
}

/*
 * Read the record whose descriptor has the id `id`. Returns 1, or 0 if the record is not finished yet, or -1 if it has no text
 * or is overwritten.
 */
static int read_record(struct guest *g, const struct linux_log *l, uint64_t id, struct linux_log_record *r)
{
	struct desc before, after;

	*r = (struct linux_log_record){0};
	if (read_desc(g, l, id, &before))
		return -1;
	if (before.id != id)
		return distance(before.id, id) < 0 ? 0 : -1;
	if (before.state == STATE_RESERVED || before.state == STATE_COMMITTED)
		return 0;
	if (read_text(g, l, &before, r) || read_desc(g, l, id, &after) || after.id != id || after.begin != before.begin)
		return -1;
	return 1;
}

void linux_read_log(struct guest *g, struct linux_log_position *at, void (*each)(void *ctx, const struct linux_log_record *r),
		    void *ctx)
{
	const struct linux_log *l = &g->log;
	struct linux_log_record r;
	const int64_t count = 1ll << l->count_bits;
	uint64_t head;

	if (!l->ring || linux_read_member(g, l->ring, &l->head_id, &head))
		return;
	if (!at->started) {
		at->started = true;
		at->next_id = (head + 1) & ID_MASK;
	}
	if (distance(head, at->next_id) >= count)
		at->next_id = (head - (uint64_t)count + 1) & ID_MASK;
	for (unsigned n = 0; distance(head, at->next_id) >= 0 && n < RECORDS_MAX; n++) {
		int got = read_record(g, l, at->next_id, &r);

		if (got == 0)
			return;
		at->next_id = (at->next_id + 1) & ID_MASK;
		if (got > 0)
			each(ctx, &r);
	}
}
