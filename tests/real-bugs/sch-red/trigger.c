/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread changes a RED scheduler, which so drops its child, and the other gives it a filled SFQ as a child again. */
#include "../sfq-child.h"

static struct sfq_child child;

static void set_red(int netlink)
{
	/* So large that no packet is dropped early. */
	struct tc_red_qopt red = {
		.limit = 1 << 22, .qth_min = 1 << 20, .qth_max = 1 << 21, .Wlog = 9, .Plog = 10, .Scell_log = 10};
	static const char stab[256];
	struct nl_request r;
	struct nlattr *options;

	qdisc_begin(&r, TBF | 1, TESTED, "red");
	options = nl_nest(&r, TCA_OPTIONS);
	nl_attr(&r, TCA_RED_PARMS, &red, sizeof(red));
	nl_attr(&r, TCA_RED_STAB, stab, sizeof(stab));
	nl_end(&r, options);
	need(nl_talk(netlink, &r), "set up a red scheduler");
}

static void fill(void *opaque)
{
	(void)opaque;
	sfq_child_fill(&child);
}

static void drop(void *opaque)
{
	sfq_child_wait(&child);
	set_red(*(const int *)opaque);
	sfq_child_dropped(&child);
}

int main(void)
{
	int netlink = nl_open(NETLINK_ROUTE);

	sfq_child_prepare(&child, CLASS(1));
	set_red(netlink);
	if (is_explored())
		sfq_child_explore(&child, drop, &netlink);
	repeat_both(fill, drop, &netlink);
}
