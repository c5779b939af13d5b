# SPDX-License-Identifier: GPL-2.0-or-later
# Locks are followed in a module that is unloaded with locks held and loaded again, by a list that names
# functions and variables that do not exist; and in one whose functions
# have lost their names. Each run's output is in $LAB_OUT, and its status in $LAB_OUT/exits.
. ./told.sh

# run NAME INITRD WORKLOADS OPTION...: one guest.
run() {
	name=$1
	initrd=$2
	work=$3
	shift 3
	status=0
	timeout -k 20 1200 outrider run --kernel vmlinuz --initrd "$initrd" --append "quiet cryptomgr.notests -- $work dmesg poweroff" --module outrider_gt \
		--rate 1000 --delay 4000 --seed 1 --locks "$@" --json "$LAB_OUT/$name.json" --console "$LAB_OUT/$name.log" <>tell \
		>"$LAB_OUT/$name.out" 2>"$LAB_OUT/$name.err" || status=$?
	echo "$name exit $status" >>"$LAB_OUT/exits"
}

console_input tell
# By this list, a function that the harness of every case calls takes a semaphore, and no function gives the semaphore back.
cat >list.conf <<-END
	take semaphore usleep_range_state variable:jiffies
	take spin no_such_lock arg0
	outer mutex no_such_mutex
END
run unload initrd.img "gtcase:spinlock:6 gtcase:spinlock:6" --lock-list list.conf
run nameless nameless.img "gtcase:spinlock:6 gtcase:mutex:6"
cat "$LAB_OUT"/*.err
