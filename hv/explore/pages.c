// SPDX-License-Identifier: GPL-2.0-or-later
/* A cache of translations, since each translation is a call of KVM (pages.h). */
#include "hv/explore/pages.h"

#include "hv/base/x86.h"

uint64_t pages_gpa(struct pages *p, struct copy *copy, unsigned cpu, uint64_t gva)
{
	uint64_t offset = gva % X86_PAGE_SIZE, page = gva - offset, gpa;
	size_t i = page / X86_PAGE_SIZE % PAGES_KNOWN;

	if (p->page[i].gva != page) {
		if (!copy_at(copy, cpu, page, &gpa))
			return 0;
		p->page[i].gva = page;
		p->page[i].gpa = gpa;
	}
	return p->page[i].gpa + offset;
}

void pages_forget(struct pages *p)
{
	*p = (struct pages){0};
}
