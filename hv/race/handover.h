/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hand-over between contexts by something that is no lock, such as a completion or a work item. The context that hands over
 * releases an object of the kernel, and the context that takes over acquires this object later (happens-before, Lamport, CACM
 * 1978). Plain data.
 */
#ifndef OUTRIDER_RACE_HANDOVER_H
#define OUTRIDER_RACE_HANDOVER_H

#include <stdint.h>

/*
 * The kind of kernel object by which one context hands over to another. The comment at each kind says by which number an object
 * of this kind is identified.
 */
enum handover_kind {
	HANDOVER_COMPLETION, /* GVA of a struct completion */
	HANDOVER_WORK,	     /* GVA of a struct work_struct or kthread_work */
	HANDOVER_TIMER,	     /* GVA of a struct timer_list */
	HANDOVER_IRQ,	     /* number of an interrupt line in Linux */
	HANDOVER_THREAD,     /* GVA of the data that a thread's function gets; at the thread's end, GVA of its task_struct */
	HANDOVER_NAPI,	     /* GVA of a struct napi_struct */
	/*
	 * GVA of an object under whose lock the kernel makes these calls, such as a sound stream. The kernel makes at most one
	 * of them at a time for each object.
	 */
	HANDOVER_SERIAL,
	HANDOVER_KINDS
};

/*
 * An object has two sides, which are released and acquired separately. A release of one side orders only contexts that later
 * acquire the same side of the same object.
 */
enum handover_side {
	/*
	 * The start of a callback: queue_work_on() releases this side of a work item, and the first instruction of the work
	 * function acquires it.
	 */
	HANDOVER_START,
	/*
	 * The end: complete(), or the return from a callback, releases this side; wait_for_completion() or flush_work()
	 * acquires it.
	 */
	HANDOVER_END,
};

#endif
