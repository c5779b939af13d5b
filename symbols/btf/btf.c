/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses a BTF blob. Parsing checks that every record lies inside the blob. Strings and type ids are checked at each use. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/btf/btf.h"
#include "symbols/btf/names.h"
#include "symbols/btf/types.h"
#include "symbols/tables/symtab.h"

#define BTF_MAGIC 0xeb9f
#define BTF_MAX_BYTES (64u << 20) /* stock kernels have 4 to 7 MiB of BTF */

struct btf_header {
	uint16_t magic;
	uint8_t version;
	uint8_t flags;
	uint32_t hdr_len;
	uint32_t type_off, type_len; /* bytes; offsets are relative to the end of the header */
	uint32_t str_off, str_len;
};

/* Number of bytes that follow a record of each kind. */
static const struct {
	uint8_t once; /* once per record */
	uint8_t each; /* for each of the record's btf_vlen() elements */
} extra_bytes[BTF_KINDS] = {
	[BTF_INT] = {4, 0}, [BTF_ARRAY] = {12, 0},   [BTF_STRUCT] = {0, 12},  [BTF_UNION] = {0, 12},	 [BTF_ENUM] = {0, 8},
	[BTF_VAR] = {4, 0}, [BTF_DATASEC] = {0, 12}, [BTF_DECL_TAG] = {4, 0}, [BTF_FUNC_PROTO] = {0, 8}, [BTF_ENUM64] = {0, 12},
};

static int check_header(const struct btf_header *h, size_t len, struct err *err)
{
	if (h->magic != BTF_MAGIC || h->version != 1)
		return err_set(err, EXIT_INPUT, "BTF: the type information is not BTF of version 1");
	if (h->hdr_len < sizeof(*h) || h->hdr_len > len)
		return err_set(err, EXIT_INPUT, "BTF: a header of %" PRIu32 " bytes: corrupt", h->hdr_len);
	len -= h->hdr_len;
	if (h->type_off > len || h->type_len > len - h->type_off || h->str_off > len || h->str_len > len - h->str_off)
		return err_set(err, EXIT_INPUT, "BTF: sections reach beyond its end: truncated");
	return 0;
}

/* Returns the length in bytes of the record at `pos` and the data that follows it, or 0 if there is no complete record. */
static uint32_t record_length(const struct btf *btf, uint32_t pos)
{
	struct btf_type t;
	uint32_t n = sizeof(t);

	if (btf->types_len - pos < sizeof(t))
		return 0;
	memcpy(&t, btf->types + pos, sizeof(t));
	if (btf_kind(&t) == BTF_VOID || btf_kind(&t) >= BTF_KINDS)
		return 0;
	n += extra_bytes[btf_kind(&t)].once + extra_bytes[btf_kind(&t)].each * btf_vlen(&t);
	return n <= btf->types_len - pos ? n : 0;
}

static int index_types(struct btf *btf, struct err *err)
{
	uint32_t n, capacity = btf->types_len / sizeof(struct btf_type) + 1;

	btf->offsets = calloc(capacity, sizeof(*btf->offsets));
	if (!btf->offsets)
		return err_set(err, EXIT_INTERNAL, "BTF: out of memory");
	btf->count = 1;
	for (uint32_t pos = 0; pos < btf->types_len; pos += n) {
		n = record_length(btf, pos);
		if (!n)
			return err_set(err, EXIT_INPUT, "BTF: type %" PRIu32 " is of no known kind or truncated", btf->count);
		btf->offsets[btf->count++] = pos;
	}
	return 0;
}

struct btf *btf_parse(const void *blob, size_t len, struct err *err)
{
	struct btf *btf = NULL;
	struct btf_header h;

	if (len < sizeof(h) || len > BTF_MAX_BYTES) {
		err_set(err, EXIT_INPUT, "BTF: %zu bytes: not BTF type information", len);
		return NULL;
	}
	btf = calloc(1, sizeof(*btf));
	if (btf)
		btf->blob = malloc(len);
	if (!btf || !btf->blob) {
		err_set(err, EXIT_INTERNAL, "BTF: out of memory");
		goto fail;
	}
	memcpy(btf->blob, blob, len);
	memcpy(&h, btf->blob, sizeof(h));
	if (check_header(&h, len, err))
		goto fail;
	btf->types = btf->blob + h.hdr_len + h.type_off;
	btf->types_len = h.type_len;
	btf->strings = (const char *)btf->blob + h.hdr_len + h.str_off;
	btf->strings_len = h.str_len;
	if (!h.str_len || btf->strings[h.str_len - 1]) {
		err_set(err, EXIT_INPUT, "BTF: strings do not end: corrupt");
		goto fail;
	}
	if (index_types(btf, err) || btf_index_names(btf, err))
		goto fail;
	return btf;
fail:
	btf_free(btf);
	return NULL;
}

void btf_free(struct btf *btf)
{
	if (!btf)
		return;
	free(btf->by_name);
	free(btf->offsets);
	free(btf->blob);
	free(btf);
}

struct btf *btf_from_guest(const struct guest_reader *reader, const struct symtab *kernel, struct err *err)
{
	uint64_t start = symtab_addr(kernel, "__start_BTF"), stop = symtab_addr(kernel, "__stop_BTF");
	struct btf *btf = NULL;
	void *blob;

	if (!start || stop <= start || stop - start > BTF_MAX_BYTES) {
		err_set(err, EXIT_INPUT, "BTF: the guest's kernel has no type information (CONFIG_DEBUG_INFO_BTF)");
		return NULL;
	}
	blob = malloc(stop - start);
	if (!blob)
		err_set(err, EXIT_INTERNAL, "BTF: out of memory");
	else if (reader->read(reader->ctx, start, blob, stop - start))
		err_set(err, EXIT_INPUT, "BTF: cannot read the guest's memory at %#" PRIx64, start);
	else
		btf = btf_parse(blob, stop - start, err);
	free(blob);
	return btf;
}
