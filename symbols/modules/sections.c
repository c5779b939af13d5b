/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the load addresses of a module's sections, from the attributes that the kernel keeps for /sys/module/NAME/sections. */
#include <string.h>

#include "hv/base/x86.h"
#include "symbols/modules/layout.h"
#include "symbols/modules/modules.h"

/* An element in the guest's array of attributes has at most this many bytes: bounds what a hostile guest's BTF can claim. */
#define STRIDE_MAX 512u

/* Layout of struct module_sect_attrs: an array of attributes, each with the name and address of a section. */
struct sections_layout {
	struct btf_member attrs; /* the array */
	struct btf_member name;	 /* pointer to the section's name, in an array element */
	struct btf_member addr;	 /* the section's address, in an array element */
	uint32_t stride;	 /* bytes of an element */
	struct btf_member count; /* size 0 if the kernel keeps no count: then an element without a valid name ends the array */
};

static bool usable(const struct sections_layout *l)
{
	return l->stride && l->stride <= STRIDE_MAX && l->name.size == 8 && l->addr.size == 8 &&
	       l->name.offset <= l->stride - 8 && l->addr.offset <= l->stride - 8;
}

/*
 * Up to Linux 6.13 an element is a struct module_sect_attr that contains a bin_attribute. Later, an element is a bin_attribute.
 */
static bool find_sections_layout(const struct btf *btf, struct sections_layout *l)
{
	if (btf_member(btf, "module_sect_attrs", "attrs", &l->attrs))
		return false;
	if (btf_member(btf, "module_sect_attrs", "nsections", &l->count) || l->count.size != sizeof(uint32_t))
		l->count.size = 0;
	l->stride = btf_sizeof(btf, "module_sect_attr");
	if (l->stride)
		return !btf_member(btf, "module_sect_attr", "battr.attr.name", &l->name) &&
		       !btf_member(btf, "module_sect_attr", "address", &l->addr) && usable(l);
	l->stride = btf_sizeof(btf, "bin_attribute");
	return !btf_member(btf, "bin_attribute", "attr.name", &l->name) &&
	       !btf_member(btf, "bin_attribute", "private", &l->addr) && usable(l);
}

/* Read a name byte by byte: the memory after its NUL may be unmapped. */
static bool read_section_name(const struct guest_reader *reader, uint64_t gva, char out[SECTION_NAME_MAX])
{
	memset(out, 0, SECTION_NAME_MAX);
	for (size_t i = 0; i + 1 < SECTION_NAME_MAX; i++) {
		if (reader->read(reader->ctx, gva + i, &out[i], 1))
			return false;
		if (!out[i])
			return i > 0;
		if (out[i] <= ' ' || out[i] > '~')
			return false;
	}
	out[SECTION_NAME_MAX - 1] = '\0';
	return true;
}

unsigned module_sections(const struct guest_reader *reader, const struct btf *btf, const struct module_info *module,
			 struct image_section *out, unsigned max)
{
	struct btf_member pointer;
	struct sections_layout l;
	uint64_t attrs;
	uint32_t count;
	unsigned n = 0;

	if (btf_member(btf, "module", "sect_attrs", &pointer) || pointer.size != sizeof(attrs) ||
	    !find_sections_layout(btf, &l) || reader->read(reader->ctx, module->addr + pointer.offset, &attrs, sizeof(attrs)) ||
	    !x86_kernel_address(attrs))
		return 0;
	if (l.count.size && reader->read(reader->ctx, attrs + l.count.offset, &count, sizeof(count)) == 0 && count < max)
		max = count;
	for (; n < max; n++) {
		uint64_t at = attrs + l.attrs.offset + (uint64_t)n * l.stride, name;

		if (reader->read(reader->ctx, at + l.name.offset, &name, sizeof(name)) || !x86_kernel_address(name) ||
		    reader->read(reader->ctx, at + l.addr.offset, &out[n].addr, sizeof(out[n].addr)) ||
		    !x86_kernel_address(out[n].addr) || !read_section_name(reader, name, out[n].name))
			break;
	}
	return n;
}
