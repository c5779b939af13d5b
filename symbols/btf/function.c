// SPDX-License-Identifier: GPL-2.0-or-later
/* Says whether a function returns void. Such a query is rare, so it scans all types, and there is no index of functions. */
#include <string.h>

#include "symbols/btf/btf.h"
#include "symbols/btf/types.h"

/* Returns whether the return type is void. A typedef of void is not recognised; no function of the kernel returns one. */
static bool is_void(const struct btf *btf, const struct btf_type *function)
{
	struct btf_type proto;

	return btf_type_get(btf, function->size_or_type, &proto) && btf_kind(&proto) == BTF_FUNC_PROTO && !proto.size_or_type;
}

/* Returns whether BTF has functions of this name, and all of them return void (if `nothing` is set) or a value (if not). */
static bool all_are(const struct btf *btf, const char *name, bool nothing)
{
	bool found = false;
	struct btf_type t;

	for (uint32_t id = 1; id < btf->count; id++) {
		if (!btf_type_get(btf, id, &t) || btf_kind(&t) != BTF_FUNC || strcmp(btf_string(btf, t.name), name) != 0)
			continue;
		if (is_void(btf, &t) != nothing)
			return false;
		found = true;
	}
	return found;
}

bool btf_returns_nothing(const struct btf *btf, const char *name)
{
	return all_are(btf, name, true);
}

bool btf_returns_value(const struct btf *btf, const char *name)
{
	return all_are(btf, name, false);
}
