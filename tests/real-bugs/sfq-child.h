/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the triggers share that drop an SFQ scheduler, with packets in it, while its perturb timer runs. The tree on dummy0 is:
 * TBF 1: at the root, so slow that packets stay, below it the scheduler under test as 2:, and the SFQ as a child of that. CPU 0
 * adds the child and fills it, and so its timer runs there. CPU 1 then drops the child. The CPUs are not exchanged, since it is
 * CPU 0 that counts jiffies: while a detector holds CPU 0, no timer of CPU 1 expires.
 */
#ifndef OUTRIDER_TRIGGER_SFQ_CHILD_H
#define OUTRIDER_TRIGGER_SFQ_CHILD_H

#include "packet.h"

#include <linux/pkt_sched.h>
#include <stdatomic.h>

#define DEVICE "dummy0"
#define TBF TC_H_MAKE(1 << 16, 0)
#define TESTED TC_H_MAKE(2 << 16, 0)
#define CLASS(n) TC_H_MAKE(2 << 16, n)
/*
 * Periods in seconds of the perturb timer. sfq_change() multiplies by HZ, which is 250, in 32 bits, and so the first one is 2
 * jiffies. Later kernels refuse it, and take the second one.
 */
#define SHORT_PERIOD 652835029
#define LONG_PERIOD 1
/* Few packets, each of a flow of its own. With more of them, the detector spends its time on the filling, and rarely sees the
 * dropping. */
#define PACKETS 8
/* Bytes that TBF sends before it is as slow as it should be: one frame. */
#define BURST 64

struct sfq_child {
	int netlink; /* of CPU 0 */
	int packets; /* a socket whose packets go to the child */
	int period;
	unsigned int parent; /* the class that the child is put into */
	atomic_bool filled;
};

static inline void qdisc_begin(struct nl_request *r, unsigned int parent, unsigned int handle, const char *kind)
{
	struct tcmsg body = {.tcm_ifindex = (int)if_nametoindex(DEVICE), .tcm_parent = parent, .tcm_handle = handle};

	nl_begin(r, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, &body, sizeof(body));
	nl_string(r, TCA_KIND, kind);
}

static inline void add_tbf(int netlink)
{
	struct tc_tbf_qopt slow = {.rate = {.linklayer = TC_LINKLAYER_ETHERNET, .rate = 1}, .limit = 1 << 20};
	struct nl_request r;
	struct nlattr *options;

	qdisc_begin(&r, TC_H_ROOT, TBF, "tbf");
	options = nl_nest(&r, TCA_OPTIONS);
	nl_attr(&r, TCA_TBF_PARMS, &slow, sizeof(slow));
	nl_u32(&r, TCA_TBF_BURST, BURST);
	nl_end(&r, options);
	need(nl_talk(netlink, &r), "add a tbf scheduler");
}

static inline int add_sfq(struct sfq_child *child)
{
	struct tc_sfq_qopt sfq = {.perturb_period = child->period};
	struct nl_request r;

	qdisc_begin(&r, child->parent, 0, "sfq");
	nl_attr(&r, TCA_OPTIONS, &sfq, sizeof(sfq));
	return nl_talk(child->netlink, &r);
}

/* Bring the interface up, with the TBF. Packets of `packets` go to the class `parent`. */
static inline void sfq_child_prepare(struct sfq_child *child, unsigned int parent)
{
	child->netlink = nl_open(NETLINK_ROUTE);
	child->period = SHORT_PERIOD;
	child->parent = parent;
	need(nl_link_up(child->netlink, DEVICE, true), "bring " DEVICE " up");
	add_tbf(child->netlink);
	child->packets = packet_open(DEVICE, 0);
	need(setsockopt(child->packets, SOL_SOCKET, SO_PRIORITY, &parent, sizeof(parent)), "set a socket's priority");
}

/* Add the child, and fill it. */
static inline void sfq_child_add(struct sfq_child *child)
{
	if (add_sfq(child)) {
		child->period = LONG_PERIOD;
		need(add_sfq(child), "add an sfq scheduler");
	}
	for (unsigned char i = 0; i < PACKETS; i++)
		packet_send(child->packets, i);
}

static inline void sfq_child_let_fire(void *opaque)
{
	(void)opaque;
	spin_us(1200000L * LONG_PERIOD);
}

/* Under outrider explore: add the child, whose timer fires on CPU 0 while CPU 1 drops the child. */
static inline void __attribute__((noreturn)) sfq_child_explore(struct sfq_child *child, void (*drop)(void *), void *arg)
{
	pin(0);
	sfq_child_add(child);
	repeat_both(sfq_child_let_fire, drop, arg);
}

/* Add the child and fill it, and wait until the other side has dropped it. */
static inline void sfq_child_fill(struct sfq_child *child)
{
	sfq_child_add(child);
	atomic_store(&child->filled, true);
	while (atomic_load(&child->filled))
		;
}

static inline void sfq_child_wait(struct sfq_child *child)
{
	while (!atomic_load(&child->filled) && !is_explored())
		;
}

static inline void sfq_child_dropped(struct sfq_child *child)
{
	atomic_store(&child->filled, false);
}

#endif
