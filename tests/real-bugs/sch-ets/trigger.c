/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread takes the third band away from an ETS scheduler, and the other adds it again, with a filled SFQ in it. */
#include "../sfq-child.h"

static struct sfq_child child;

static void set_bands(int netlink, unsigned char bands)
{
	/*
	 * The third band is not strict: a filled band that becomes strict, or no longer is, corrupts a list of the old kernel,
	 * which is a bug, but no race.
	 */
	unsigned char strict = 2;
	struct nl_request r;
	struct nlattr *options;

	qdisc_begin(&r, TBF | 1, TESTED, "ets");
	options = nl_nest(&r, TCA_OPTIONS | NLA_F_NESTED);
	nl_attr(&r, TCA_ETS_NBANDS, &bands, sizeof(bands));
	nl_attr(&r, TCA_ETS_NSTRICT, &strict, sizeof(strict));
	nl_end(&r, options);
	need(nl_talk(netlink, &r), "set up an ets scheduler");
}

static void fill(void *opaque)
{
	(void)opaque;
	set_bands(child.netlink, 3);
	sfq_child_fill(&child);
}

static void drop(void *opaque)
{
	sfq_child_wait(&child);
	set_bands(*(const int *)opaque, 2);
	sfq_child_dropped(&child);
}

int main(void)
{
	int netlink = nl_open(NETLINK_ROUTE);

	sfq_child_prepare(&child, CLASS(3));
	if (is_explored()) {
		set_bands(netlink, 3);
		sfq_child_explore(&child, drop, &netlink);
	}
	set_bands(netlink, 2);
	repeat_both(fill, drop, &netlink);
}
