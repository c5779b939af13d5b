// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/export/rules.h"

#include <string.h>

#define READ_IT "Read both accesses with their locks. "
#define MARK_IT "If the race is meant, mark both accesses with READ_ONCE() and WRITE_ONCE(), or with data_race()."
#define CHECK_IT "Check the evidence once. If it holds, marking the accesses tells readers and tools that the race is meant."

const struct export_rule export_rules[] = {
	{"marked-accesses", EXPORT_BENIGN, "Both accesses are marked or atomic.",
	 "Both sides use atomic_*(), READ_ONCE(), rcu_dereference() and the like. By the kernel's memory model this is "
	 "synchronisation and no race. A mark says that an access is whole. It does not say that no update is lost.",
	 "Where both sides write, check that neither store undoes the other's."},
	{"sequence-count", EXPORT_BENIGN, "A sequence count orders the accesses.",
	 "The reader loads the count again behind the datum and goes back when the count has changed. The writer raises the "
	 "same "
	 "count before its store and behind it.",
	 CHECK_IT},
	{"rcu-publication", EXPORT_BENIGN, "RCU orders the accesses.",
	 "The pointer is read in an RCU read-side critical section, and what it led to is freed only after a grace period.",
	 "Use rcu_dereference() and rcu_assign_pointer() where the code does not, so that tools can see it."},
	{"changed-under-write-back", EXPORT_BENIGN, "A page of a file is changed while it is written to the disk.",
	 "A system call copies data into a page of the page cache that the disk is being given. The code that copies waits "
	 "first "
	 "where the file system or the disk needs pages that stay as they are. Here it did not wait, and the page is written "
	 "once "
	 "more.",
	 "Nothing, unless the file system keeps checksums of its data and does not say that it needs stable pages."},
	{"safe-flag-update", EXPORT_BENIGN, "One side looks at some bits, and the other side changes others.",
	 "The writer writes back the bits that the reader looks at as they were.",
	 "Check that no second writer can undo the update. " MARK_IT},
	{"special-variable", EXPORT_BENIGN, "The datum is known to race by design.",
	 "The datum is in a list of variables of this kernel for which the kernel's own comments accept the race.",
	 "Nothing, unless the kernel's version is newer than the list."},
	{"only-shown", EXPORT_BENIGN, "What is read is only shown to people.",
	 "No branch, address or store depends on the value.", MARK_IT},
	{"statistics-counter", EXPORT_BENIGN, "The datum is a statistic.",
	 "All that both sides do is add, and the number was only seen to grow. Updates can be lost, and the number is then too "
	 "small.",
	 "If the number must be exact, make it per-CPU or atomic. " MARK_IT},
	{"double-checked-locking", EXPORT_BENIGN, "The datum is tested without the lock, and again with it.",
	 "The reader looks first without the lock, then takes it and reads the same place again. The writer holds a lock.",
	 "Check that it is the same lock. Mark the first read with READ_ONCE()."},
	{"same-value-writes", EXPORT_UNSURE, "Both sides store one value.",
	 "Two stores of the same value do no harm by themselves. That two CPUs come here at once may be the bug.",
	 READ_IT "Ask whether what surrounds the stores may be done twice."},
	{"user-built-synchronisation", EXPORT_UNSURE, "A loop waits for the other side's store.",
	 "The loop reads the datum until the other side stores. Without a mark the compiler may read only once, and nothing "
	 "orders what comes behind the loop.",
	 "Use smp_cond_load_acquire() or READ_ONCE() in the loop, and smp_store_release() for the store."},
	{"handed-over", EXPORT_UNSURE, "A flag says whose turn it is.",
	 "One side accesses the data only behind a branch by the flag, and the other side stores to the flag only behind its "
	 "own "
	 "accesses. Machine code does not show whether acquire and release were meant.",
	 "Use smp_store_release() for the flag, and smp_load_acquire() where it is tested."},
	{"ring-queue", EXPORT_UNSURE, "The datum is an index of a ring.",
	 "Each side stores an index of its own behind its access to the slot that the index names. It looks as if there were "
	 "one "
	 "producer and one consumer. A second one may exist all the same.",
	 "Check that there is one of each. Use smp_store_release() and smp_load_acquire() for the indices."},
	{"approximate-computation", EXPORT_UNSURE, "The datum is read for a rough figure.",
	 "The datum is in a list of data for which an old value does no harm.", MARK_IT},
	{"both-values-valid", EXPORT_UNSURE, "The old value is as good as the new one.",
	 "The datum is in a list of data for which the reader may see either value.", MARK_IT},
	{"freed-under-readers", EXPORT_HARMFUL, "What readers under RCU may hold is freed without a grace period.",
	 "A reader that loaded the pointer before it was taken away may still use what it led to.",
	 "Free by kfree_rcu() or call_rcu(), or wait by synchronize_rcu() first."},
	{"reused-under-readers", EXPORT_HARMFUL, "What readers under RCU may hold is used again without a grace period.",
	 "A reader that loaded the pointer before may see the object's new use.",
	 "Wait for a grace period before the object is used again, or let readers check that it is still theirs."},
	{"reader-outside-rcu", EXPORT_HARMFUL, "A pointer that RCU guards is read outside of an RCU section.",
	 "Nothing keeps what the pointer leads to from being freed.",
	 "Put the access between rcu_read_lock() and rcu_read_unlock(), or hold the writers' lock."},
	{"not-handed-over", EXPORT_HARMFUL, "A flag hands over data that race.",
	 "The flag is meant to say whose turn it is, but its data were seen to be accessed by both sides at once.",
	 "Find the way on which the data are accessed out of turn. A mark on the flag does not help."},
	{"device-not-awaited", EXPORT_HARMFUL, "A buffer is accessed while a device has it.",
	 "From the moment that a driver hands a request to the device until the device says that it is done, the request's "
	 "memory "
	 "is the device's. What a CPU reads there may be half filled, and what a CPU stores there may or may not reach the "
	 "device.",
	 "Wait for the request's completion before the buffer is accessed, or use another buffer in the meantime."},
	{"reference-count", EXPORT_HARMFUL, "An object's life depends on a count that races.",
	 "A lost update of a reference count frees the object too early, or never.",
	 "Use refcount_t, or take the lock on both sides."},
	{"freed-afterwards", EXPORT_HARMFUL, "One side may free the object behind its access.",
	 "If the other side still uses the object then, it uses freed memory.",
	 READ_IT "Find what keeps the object alive for the other side: a reference, a lock or RCU."},
	{"lost-update", EXPORT_HARMFUL, "A store undoes the other side's.",
	 "Both sides read, change and write back the same datum. The later store loses the earlier one.",
	 "Take the same lock on both sides, or use an atomic operation."},
	{"no-common-lock", EXPORT_HARMFUL, "Both sides hold locks, and none of them keeps the two apart.",
	 "Each side's lock says that the datum needs one. They are not the same one, or both sides hold it as readers.",
	 READ_IT "Find which lock the other accesses of the datum hold, and take it on both sides."},
	{"lock-on-one-side", EXPORT_HARMFUL, "One side holds a lock, and the other takes none.",
	 "The lock says that the datum needs one.",
	 READ_IT "Take the lock on the other side too, or say why that side needs none. " MARK_IT},
	{"pointer", EXPORT_HARMFUL, "A pointer races.",
	 "The reader may follow a pointer to an object that is not ready or not there any more.",
	 "Publish by smp_store_release() or rcu_assign_pointer(), and find what keeps the object alive."},
	{"dangerous-datum", EXPORT_HARMFUL, "The datum is linkage, a length or the like.",
	 "Other data are reached or measured by it, so a stale or torn value leads to wrong memory.",
	 READ_IT "Find the lock that guards the list or the length."},
	{"value-used", EXPORT_HARMFUL, "What is read decides a branch or an address.",
	 "The value may change right behind the read, and what is done then is done for a state that is over.",
	 READ_IT "Ask what happens when the value changes right behind the read. " MARK_IT},
	{"torn", EXPORT_HARMFUL, "A part of a store may be seen.",
	 "The accesses only overlap or are not aligned, so the reader may see a mix of two values.",
	 "Make both accesses aligned and of one size, or take a lock."},
	{"interrupt-against-task", EXPORT_HARMFUL, "An interrupt races with a task.",
	 "The interrupt can come between any two instructions of the task.",
	 "Keep the interrupt away by spin_lock_irqsave() or local_irq_save(). " MARK_IT},
	{"one-side-marked", EXPORT_HARMFUL, "A marked access races with a plain one.",
	 "The mark says that the race is known on one side. The compiler may still tear, repeat or leave out the plain access.",
	 "Mark the plain access too."},
	{"order-crashes", EXPORT_HARMFUL, "One order of the two accesses ends in trouble.",
	 "A copy of the machine was run in both orders from the moment before the race. One order ended in an oops, a warning, "
	 "a panic or a hang, and the other one did not.",
	 "Start from the kernel's own message, which the report has. Find the lock or the order that keeps this order away."},
	{"state-change", EXPORT_HARMFUL, "The two orders of the accesses lead to different states.",
	 "A copy of the machine was run in both orders from the moment before the race, and what is live afterwards differs.",
	 READ_IT "Ask whether both states are right. " MARK_IT},
	{"replay-failure", EXPORT_HARMFUL, "One order of the accesses could not be run to its end.",
	 "A copy of the machine was run in both orders from the moment before the race. One of them ran into a fault, a "
	 "warning, a deadlock, or did not come to an end.",
	 READ_IT "The order that failed is a way to see what the race can do."},
	{"no-state-change", EXPORT_BENIGN, "Both orders of the accesses lead to the same state.",
	 "Copies of the machine were run in both orders from the moment before the race, often enough that a race with an "
	 "effect is likely to have shown it. Another workload may still show one.",
	 CHECK_IT},
	{"no-benign-pattern", EXPORT_HARMFUL, "No benign pattern fits.", "Nothing shows that this race does no harm.",
	 READ_IT MARK_IT},
	{"data-race", EXPORT_UNSURE, "Two unsynchronised accesses met.",
	 "Two CPUs accessed the same memory at the same time, at least one access was a write, and not both were "
	 "synchronisation.",
	 READ_IT MARK_IT},
};

const size_t export_rule_count = sizeof(export_rules) / sizeof(export_rules[0]);

size_t export_rule_index(const char *id)
{
	size_t i = 0;

	while (i + 1 < export_rule_count && (!id || strcmp(export_rules[i].id, id) != 0))
		i++;
	return i;
}
