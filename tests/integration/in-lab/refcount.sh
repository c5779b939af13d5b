# SPDX-License-Identifier: GPL-2.0-or-later
# A reference count without a lock, whose object is freed twice when both sides ask for it: run until the kernel has said so of one order alone.
. ./told.sh

# One order of a read and a decrement frees twice, and the kernel has said so. (Both orders of two decrements do.) Or outrider has ended. The guest goes
# on, since the kernel refuses the second free.
said() {
	for id in $(sed -n '/ read in gt_refput_/s/^RACE \([0-9a-f]*\) .*/\1/p' "$LAB_OUT/twice.out"); do
		! grep -A2 "^RACE $id " "$LAB_OUT/twice.out" | grep -q 'first) ends in trouble, .*: Trying to vfree() nonexistent vm area' || return 0
	done
	! kill -0 "$pid"
}

console_input tell
timeout -k 20 2400 outrider run --kernel vmlinuz --initrd initrd.img --module outrider_gt --rate 1000 --delay 4000 --seed 1 --replay --replay-for 8s \
	--append 'quiet cryptomgr.notests -- "sh:insmod /outrider_gt.ko refput_twice=1" gtcase:refput:1:1200 poweroff' \
	--json "$LAB_OUT/twice.json" --console "$LAB_OUT/twice.log" <>tell >"$LAB_OUT/twice.out" 2>"$LAB_OUT/twice.err" &
pid=$!
until_true said
echo "enough refput" 1<>tell
status=0
wait "$pid" || status=$?
echo "exit $status" >"$LAB_OUT/exits"
cat "$LAB_OUT/twice.err"
grep -A3 '^RACE .*  outrider_gt:' "$LAB_OUT/twice.out"
