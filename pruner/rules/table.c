// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of the rules, in the order in which the rules of one stage are tried. */
#include "pruner/rules/rule.h"
#include "pruner/rules/rules.h"

#define READ_BOTH "Read both accesses with their locks. "
#define MARK_BOTH "If the race is intended, mark both accesses with READ_ONCE() and WRITE_ONCE(), or with data_race()."
#define CHECK_ONCE \
	"Check the evidence once. If it is right, mark the accesses, which tells readers and tools that the race is intended."

static bool broken_handoff(const struct view *v, struct verdict *out)
{
	return rule_broken_handoff_flag(v, out) || rule_broken_handoff_pointer(v, out);
}

/*
 * `refuted_by_equal_states` is set if PLDI'07 found no state change for this kind of race (section 5.4). It is not set if both
 * orders can lead to the same state although there is a bug: for example, an object is freed after the regions end, or both
 * sides store one value.
 */
const struct rule rule_table[RULE_COUNT] = {
	/* ---- the datum belongs to one side at a time, or a protocol of the two sides orders the accesses ---- */
	[RULE_CHANGED_UNDER_WRITE_BACK] = {
		.name = "changed-under-write-back",
		.class = VERDICT_BENIGN,
		.help = {
			.found = "A system call changes a page of a file while the disk reads the page.",
			.meaning = "A system call copies data into a page of the page cache during the page's write-back. "
				"The code that copies waits first if the file system or the disk needs pages that do "
				"not change meanwhile. Here it did not wait, and the page is written once more.",
			.next = "Do nothing, unless the file system keeps checksums of its data and does not say that "
				"it needs stable pages.",
		},
		.apply = {[RULE_BY_OWNER] = rule_write_back},
	},
	[RULE_DEVICE_NOT_AWAITED] = {
		.name = "device-not-awaited",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "A CPU accesses a buffer while a device uses it.",
			.meaning = "From the moment that a driver hands a request to the device until the device reports "
				"the end of the request, the request's memory belongs to the device. A CPU that reads "
				"there may read half of the data. A store of a CPU there may or may not reach the "
				"device.",
			.next = "Wait for the end of the request before the buffer is accessed, or use another buffer "
				"meanwhile.",
		},
		.apply = {[RULE_BY_OWNER] = rule_device},
	},
	[RULE_DOUBLE_FETCH] = {
		.name = "double-fetch",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "A list is counted in one walk and used in a second walk, and changes in between.",
			.meaning = "The reader reserves memory for as many entries as the first walk counted. The second walk may "
				"find more of them, and store behind that memory.",
			.next = "Take the writers' lock over both walks, or stop the second walk at the counted number.",
		},
		.apply = {[RULE_BY_PROOF] = rule_double_fetch},
	},
	[RULE_GET_AFTER_LAST_PUT] = {
		.name = "get-after-last-put",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "A reference is taken after the last one was dropped.",
			.meaning = "The code increments a reference count without knowing that there is a reference. "
				"Meanwhile, the last user has made the count 0 and destroys the object, which is then used "
				"after it was freed.",
			.next = "Take the reference in the same critical section as the lookup, under a lock that the "
				"code takes before the object goes, or take it with refcount_inc_not_zero().",
		},
		.apply = {[RULE_BY_PROOF] = rule_last_put},
	},
	/* rule_rcu() sets the next four rules. */
	[RULE_FREED_UNDER_READERS] = {
		.name = "freed-under-readers",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "An object that RCU readers may access is freed without a grace period.",
			.meaning = "A reader that loaded the pointer before the store may still use the object.",
			.next = "Free the object by kfree_rcu() or call_rcu(), or call synchronize_rcu() first.",
		},
	},
	[RULE_REUSED_UNDER_READERS] = {
		.name = "reused-under-readers",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "An object that RCU readers may access is used again without a grace period.",
			.meaning = "A reader that loaded the pointer before the store may see the object's new content.",
			.next = "Wait for a grace period before the object is used again, or let readers check that it "
				"is still the same object.",
		},
	},
	[RULE_READER_OUTSIDE_RCU] = {
		.name = "reader-outside-rcu",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "A pointer that RCU guards is read or used outside an RCU read-side critical section.",
			.meaning = "Nothing keeps the object from being freed during the access.",
			.next = "Put the access between rcu_read_lock() and rcu_read_unlock(), or hold the writers' "
				"lock.",
		},
	},
	[RULE_RCU_PUBLICATION] = {
		.name = "rcu-publication",
		.class = VERDICT_SYNCHRONISATION,
		.help = {
			.found = "RCU orders the accesses.",
			.unclear = "the code shows only a part of this",
			.meaning = "The pointer is read in an RCU read-side critical section, and the old object is freed "
				"only after a grace period.",
			.next = "Use rcu_dereference() and rcu_assign_pointer() where the code does not, so that tools "
				"can see them.",
		},
		.apply = {[RULE_BY_PROOF] = rule_rcu},
	},
	[RULE_SEQUENCE_COUNT] = {
		.name = "sequence-count",
		.class = VERDICT_SYNCHRONISATION,
		.help = {
			.found = "A sequence count orders the accesses.",
			.unclear = "a part of the code is not known, or a second writer is possible",
			.meaning = "The reader loads the count again after the datum, and retries when the count has "
				"changed. The writer adds 1 to the same count before its store and after it.",
			.next = CHECK_ONCE,
		},
		.apply = {[RULE_BY_PROOF] = rule_seqcount, [RULE_BY_DOUBT] = rule_doubtful_seqcount},
	},
	[RULE_HANDED_OVER] = {
		.name = "handed-over",
		.class = VERDICT_UNCLEAR,
		.help = {
			.found = "A flag or a pointer hands the data over.",
			.meaning = "One side accesses the data only after a branch on a flag or a pointer. The other side "
				"stores the flag or the pointer only after its own accesses. Machine code does not show "
				"whether acquire and release were meant.",
			.next = "Use smp_store_release() for the store, and smp_load_acquire() for the load.",
		},
		.apply = {[RULE_BY_OWNER] = rule_handoff_pointer, [RULE_BY_DOUBT] = rule_handoff_flag},
	},
	[RULE_RING_QUEUE] = {
		.name = "ring-queue",
		.class = VERDICT_UNCLEAR,
		.help = {
			.found = "The datum is an index of a ring.",
			.meaning = "Each side stores an index of its own after its access to the slot of that index. The code looks like that of one producer and one consumer, but there may be a second producer or consumer.",
			.next = "Check that there is only one producer and only one consumer. Use smp_store_release() and "
				"smp_load_acquire() for the indices.",
		},
		.apply = {[RULE_BY_DOUBT] = rule_queue},
	},
	[RULE_NOT_HANDED_OVER] = {
		.name = "not-handed-over",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "A flag or a pointer should hand data over, and these data race.",
			.meaning = "The flag or the pointer says which function may use the data, but both sides were seen "
				"to access the data at the same time.",
			.next = "Find the path on which a function accesses the data before they are handed over. A "
				"mark on the flag or the pointer does not help.",
		},
		.apply = {[RULE_BY_PROOF] = broken_handoff},
	},
	[RULE_LOCK_WORD] = {
		.name = "lock-word",
		.class = VERDICT_SYNCHRONISATION,
		.help = {
			.found = "The datum is the word of a lock or of the scheduler.",
			.meaning = "Lock functions exclude each other by this word, so they race on it by design. Other "
				"code may read it, for example to see whether another CPU waits for the lock.",
			.next = "Do nothing, unless the code relies on what it read: the lock may be taken or released "
				"directly after the read.",
		},
		.apply = {[RULE_BY_PROOF] = rule_lock_word},
	},
	[RULE_MARKED_ACCESSES] = {
		.name = "marked-accesses",
		.class = VERDICT_SYNCHRONISATION,
		.help = {
			.found = "Both accesses are marked or atomic.",
			.unclear = "both sides write",
			.meaning = "Both sides use atomic_*(), READ_ONCE(), rcu_dereference() and the like. By the "
				"kernel's memory model this is synchronisation and no race. A mark says that an access "
				"is made as a whole. It does not say that no update is lost.",
			.next = "If both sides write, check that neither store undoes the other.",
		},
		.apply = {[RULE_BY_PROOF] = rule_marked},
	},
	[RULE_SAFE_FLAG_UPDATE] = {
		.name = "safe-flag-update",
		.class = VERDICT_BENIGN,
		.help = {
			.found = "One side uses some bits of a word, and the other side changes only other bits.",
			.meaning = "The writer loads the word, changes other bits, and stores the bits that the reader uses unchanged.",
			.next = "Check that no second writer can undo the update. " MARK_BOTH,
		},
		.apply = {[RULE_BY_PROOF] = rule_flags},
	},
	[RULE_SAME_FLAG_UPDATE] = {
		.name = "same-flag-update",
		.class = VERDICT_BENIGN,
		.help = {
			.found = "Both sides set the same flags of a word, unless they are set already.",
			.meaning = "Nothing else depends on these flags in the code of the two sides. A side that misses the "
				"other's store sets the flags once more.",
			.next = "Check that no other writer changes the rest of the word. " MARK_BOTH,
		},
		.apply = {[RULE_BY_PROOF] = rule_same_flags},
	},
	[RULE_SPECIAL_VARIABLE] = {
		.name = "special-variable",
		.class = VERDICT_BENIGN,
		.help = {
			.found = "The datum is known to race by design.",
			.meaning = "The datum is in a list of variables of this kernel for which the kernel's own comments "
				"accept the race.",
			.next = "Do nothing, unless the kernel is newer than the list.",
		},
		.apply = {[RULE_BY_LIST] = rule_special},
	},
	[RULE_APPROXIMATE_COMPUTATION] = {
		.name = "approximate-computation",
		.class = VERDICT_UNCLEAR,
		.help = {
			.found = "The datum is read for an estimate.",
			.meaning = "The datum is in a list of data for which an old value does no harm.",
			.next = MARK_BOTH,
		},
		.apply = {[RULE_BY_LIST] = rule_approximate},
	},
	[RULE_BOTH_VALUES_VALID] = {
		.name = "both-values-valid",
		.class = VERDICT_UNCLEAR,
		.help = {
			.found = "The old value and the new value are both correct.",
			.meaning = "The datum is in a list of data for which the reader may see either value.",
			.next = MARK_BOTH,
		},
		.apply = {[RULE_BY_LIST] = rule_both_valid},
		.refuted_by_equal_states = true,
	},
	[RULE_ONLY_SHOWN] = {
		.name = "only-shown",
		.class = VERDICT_BENIGN,
		.help = {
			.found = "The value that is read is only printed for people.",
			.meaning = "No branch, no address and no store depends on the value.",
			.next = MARK_BOTH,
		},
		.apply = {[RULE_BY_LIST] = rule_shown},
	},
	[RULE_STATISTICS_COUNTER] = {
		.name = "statistics-counter",
		.class = VERDICT_BENIGN,
		.help = {
			.found = "The datum is a statistic.",
			.unclear = "few instances show that the number only grows",
			.meaning = "Both sides only add or read, and the number only grew. An update can be lost. Then the "
				"number is too small.",
			.next = "If the number must be exact, make it per-CPU or atomic. " MARK_BOTH,
		},
		.apply = {[RULE_BY_PATTERN] = rule_counter},
	},
	[RULE_DOUBLE_CHECKED_LOCKING] = {
		.name = "double-checked-locking",
		.class = VERDICT_BENIGN,
		.help = {
			.found = "The datum is tested without the lock, and again with the lock.",
			.unclear = "the code does not show that the writer holds a lock",
			.meaning = "The reader first reads without the lock. Then it takes the lock and reads the same "
				"place again. The writer holds a lock.",
			.next = "Check that both sides take the same lock. Mark the first read with READ_ONCE().",
		},
		.apply = {[RULE_BY_PATTERN] = rule_double_check},
		.refuted_by_equal_states = true,
	},
	[RULE_SAME_VALUE_WRITES] = {
		.name = "same-value-writes",
		.class = VERDICT_UNCLEAR,
		.help = {
			.found = "Both sides store the same value.",
			.meaning = "Two stores of the same value do no harm by themselves. But it may be a bug that two "
				"CPUs run this code at the same time.",
			.next = READ_BOTH "Ask whether it does harm if two CPUs run the code around the stores at the same time.",
		},
		.apply = {[RULE_BY_PATTERN] = rule_same_value},
		/*
		 * DataCollider's authors would not prune this pattern, because a bug in their paper has it (figure 4). So such
		 * a race gets a high rank within its class.
		 */
		.points = 15,
	},
	[RULE_USER_BUILT_SYNCHRONISATION] = {
		.name = "user-built-synchronisation",
		.class = VERDICT_UNCLEAR,
		.help = {
			.found = "A loop waits for the other side's store.",
			.meaning = "The loop reads the datum until the other side stores. Without a mark the compiler may "
				"read only once, and nothing orders the code after the loop.",
			.next = "Use smp_cond_load_acquire() or READ_ONCE() in the loop, and smp_store_release() for "
				"the store.",
		},
		.apply = {[RULE_BY_PATTERN] = rule_spin},
		.refuted_by_equal_states = true,
	},
	[RULE_LONE_WORD] = {
		.name = "lone-word",
		.class = VERDICT_UNCLEAR,
		.help = {
			.found = "A variable of one word is stored by one side and loaded by the other, and the source was not read.",
			.meaning = "The reader gets the old value or the new one, each as a whole. Whether that is meant, only "
				   "the source shows: READ_ONCE() and WRITE_ONCE() leave no trace in machine code.",
			.next = "Give the source to `outrider report` (--sources, with debug files by --symbols), or read the "
				"source lines of both accesses. " MARK_BOTH,
		},
		.apply = {[RULE_BY_DOUBT] = rule_lone_word},
		/*
		 * Without the source, nothing tells whether such a race is intended or a bug. So it gets a rank near the top of its
		 * class, and a user looks at the source early.
		 */
		.points = 18,
	},
	[RULE_LONE_FLAG] = {
		.name = "lone-flag",
		.class = VERDICT_UNCLEAR,
		.help = {
			.found = "One side only sets or clears a flag, and the other side only branches on it.",
			.meaning = "The reader acts as if it had come a moment earlier or later. Most such races do no harm. The "
				"race is a bug if the reader relies on what it found, for example on an object that goes away "
				"after the flag has changed.",
			.next = "Read what the reader does in each case after the flag has changed. " MARK_BOTH,
		},
		.apply = {[RULE_BY_DOUBT] = rule_lone_flag},
	},
	[RULE_ONLY_PEEKED] = {
		.name = "only-peeked",
		.class = VERDICT_UNCLEAR,
		.help = {
			.found = "The reader only tells its caller what it found at this moment, as poll() does.",
			.meaning = "The caller asks again before it relies on the answer. The race is a bug if a wakeup can be "
				"missed: if the other side wakes the caller before it stores.",
			.next = "Check that the store comes before the wakeup. " MARK_BOTH,
		},
		.apply = {[RULE_BY_LIST] = rule_peek},
	},
	[RULE_LOCKED_UPDATE] = {
		.name = "locked-update",
		.class = VERDICT_UNCLEAR,
		.help = {
			.found = "A LOCKed instruction changes the datum, and the other side only reads it.",
			.meaning = "The read is most likely made by atomic_read() or test_bit(), which leave no trace in machine "
				"code. The reader may still rely on a value that is old when it acts.",
			.next = "Read what the reader does with the value. Give the source to `outrider report` (--sources).",
		},
		.apply = {[RULE_BY_DOUBT] = rule_locked_update},
	},
	/*
	 * ---- if no rule above fits: a rule for each kind of fact; the fact with the most points decides
	 * (pruner/rules/raise.h) ----
	 */
	[RULE_REFERENCE_COUNT] = {
		.name = "reference-count",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "The life of an object depends on a count that races.",
			.meaning = "After a lost update of a reference count, the object is freed too early, or never. A side "
				"that acts on an old count of 0 destroys an object which is used again.",
			.next = "Use refcount_t, or take the lock on both sides.",
		},
	},
	[RULE_FREED_AFTERWARDS] = {
		.name = "freed-afterwards",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "One side may free the object after its access.",
			.meaning = "If the other side still uses the object then, it uses freed memory.",
			.next = READ_BOTH "Find what keeps the object alive for the other side: a reference, a lock or RCU.",
		},
	},
	[RULE_LOST_UPDATE] = {
		.name = "lost-update",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "One side's store undoes the other side's store.",
			.meaning = "Both sides read, change and store the same datum. The later store overwrites the "
				"earlier one.",
			.next = "Take the same lock on both sides, or use an atomic operation.",
		},
	},
	[RULE_NO_COMMON_LOCK] = {
		.name = "no-common-lock",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "Both sides hold locks, and no common lock orders their accesses.",
			.meaning = "Each side takes a lock, so the datum most likely needs one. The two sides hold different "
				"locks, or both hold one lock as readers.",
			.next = READ_BOTH "Find which lock the other accesses to the datum hold, and take it on both sides.",
		},
	},
	[RULE_LOCK_ON_ONE_SIDE] = {
		.name = "lock-on-one-side",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "One side holds a lock, and the other side takes none.",
			.meaning = "One side takes a lock, so the datum most likely needs a lock.",
			.next = READ_BOTH "Take the lock on the other side too, or say why that side needs none. " MARK_BOTH,
		},
	},
	[RULE_POINTER] = {
		.name = "pointer",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "The datum is a pointer.",
			.meaning = "The reader may follow the pointer to an object that is not complete yet, or that is "
				"freed.",
			.next = "Publish the object by smp_store_release() or rcu_assign_pointer(), and find what keeps "
				"the object alive.",
		},
	},
	[RULE_DANGEROUS_DATUM] = {
		.name = "dangerous-datum",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "The datum is by its name a link of a list, a length or the like.",
			.meaning = "Code uses such a value to find or to bound other data, so an old or torn value leads "
				"to wrong memory.",
			.next = READ_BOTH "Find the lock that guards the list or the length.",
		},
	},
	[RULE_VALUE_USED] = {
		.name = "value-used",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "A branch or an address depends on the value that is read.",
			.meaning = "The value may change directly after the read. Then the code acts on a state that no "
				"longer exists.",
			.next = READ_BOTH "Ask what happens when the value changes directly after the read. " MARK_BOTH,
		},
	},
	[RULE_TORN] = {
		.name = "torn",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "One side may see a part of a store.",
			.meaning = "The accesses only overlap, or are not aligned, so the reader may see a mix of two "
				"values.",
			.next = "Make both accesses aligned and of one size, or take a lock.",
		},
	},
	[RULE_INTERRUPT_AGAINST_TASK] = {
		.name = "interrupt-against-task",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "An interrupt races with a task.",
			.meaning = "The interrupt can come between any two instructions of the task.",
			.next = "Keep the interrupt away by spin_lock_irqsave() or local_irq_save(). " MARK_BOTH,
		},
	},
	[RULE_ONE_SIDE_MARKED] = {
		.name = "one-side-marked",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "A marked access races with a plain access.",
			.meaning = "The mark says that the race is known on one side. The compiler may still tear, repeat "
				"or leave out the plain access.",
			.next = "Mark the plain access too.",
		},
	},
	/*
	 * ---- the rule of races that a complaint of the guest's kernel makes harmful candidates (pruner/rules/complained.h)
	 * ----
	 */
	[RULE_KERNEL_COMPLAINED] = {
		.name = "kernel-complained",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "The guest's kernel complained soon after the race, in its code or about its object.",
			.meaning = "An oops, a warning or another complaint came within ten seconds after the two "
				"accesses raced. It names an instruction of the race, an address in the object that "
				"both sides accessed, or a function of the race and an address to which the race's "
				"pointer leads.",
			.next = "Start from the complaint, which the report has with its call trace. Find the lock or "
				"the order that keeps the two accesses apart.",
		},
	},
	/* ---- the rules of races for which the outcomes of running both orders decide (pruner/rules/outcome.h) ---- */
	[RULE_ORDER_CRASHES] = {
		.name = "order-crashes",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "One order of the two accesses ends in an oops, a warning, a panic or a hang.",
			.meaning = "Copies of the machine were run in both orders from the moment before the race. One "
				"order ended in an oops, a warning, a panic or a hang, and the other order did not.",
			.next = "Start from the kernel's own message, which the report has. Find the lock that should "
				"keep the accesses from this order.",
		},
	},
	[RULE_STATE_CHANGE] = {
		.name = "state-change",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "The two orders of the accesses lead to different states.",
			.meaning = "Copies of the machine were run in both orders from the moment before the race, and "
				"afterwards memory or registers differ that later code may read.",
			.next = READ_BOTH "Ask whether both states are right. " MARK_BOTH,
		},
	},
	[RULE_REPLAY_FAILURE] = {
		.name = "replay-failure",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "One order of the accesses could not be run to its end.",
			.meaning = "Copies of the machine were run in both orders from the moment before the race. One "
				"order led to a fault, a warning or a deadlock, or did not end.",
			.next = READ_BOTH "The order that failed shows what the race can do.",
		},
	},
	[RULE_NO_STATE_CHANGE] = {
		.name = "no-state-change",
		.class = VERDICT_BENIGN,
		.help = {
			.found = "Both orders of the accesses lead to the same state.",
			.unclear = "the race was a harmful candidate without any evidence but the race itself",
			.meaning = "Copies of the machine were run in both orders from the moment before the race. If "
				"the race had an effect, so many runs would most likely have shown it. With another "
				"workload, it may have one.",
			.next = CHECK_ONCE,
		},
	},
	[RULE_NO_BENIGN_PATTERN] = {
		.name = "no-benign-pattern",
		.class = VERDICT_HARMFUL,
		.help = {
			.found = "No benign pattern fits.",
			.meaning = "Nothing shows that this race does no harm.",
			.next = READ_BOTH MARK_BOTH,
		},
		/*
		 * The pruner gives 18 of the harmful races in the recorded runs this rule (docs/pruning.md). So if both orders
		 * of the accesses lead to the same state, a race with this rule becomes unclear, and not benign.
		 */
		.refuted_by_equal_states = true,
	},
};

const char *rule_name(enum rule_id id)
{
	return rule_table[id].name;
}
