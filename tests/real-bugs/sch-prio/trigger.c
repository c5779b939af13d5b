/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread takes the third band away from a PRIO scheduler, and the other adds it again, with a filled SFQ in it. Under
 * outrider explore, the SFQ is there already, and its timer runs on CPU 0 while the other thread takes the band away.
 */
#include "../sfq-child.h"

static struct sfq_child child;

static void set_bands(int netlink, int bands)
{
	struct tc_prio_qopt prio = {.bands = bands};
	struct nl_request r;

	qdisc_begin(&r, TBF | 1, TESTED, "prio");
	nl_attr(&r, TCA_OPTIONS, &prio, sizeof(prio));
	need(nl_talk(netlink, &r), "set up a prio scheduler");
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
