# SPDX-License-Identifier: GPL-2.0-or-later
# Locks are followed: CASES of the ground truth, each until the race was suspected and seen, or SECONDS_EACH are over; then the cases OTHERS,
# each until its race was seen and for CONTROL_SECONDS more; then the controls HANDED, each until outrider reports that locks or hand-overs order its accesses;
# then all controls, each for CONTROL_SECONDS. OPTIONS: more of outrider run.
. ./told.sh

# over CASE: the guest waits for it no more, or outrider has ended.
over() {
	grep -a -q "gtcase:$1:.*: done" "$LAB_OUT/console.log" || ! kill -0 "$pid"
}

# ran: whether outrider still runs.
ran() {
	kill -0 "$pid" 2>/dev/null || { echo "$case: outrider has ended before this was enough"; return 1; }
}

proven_or_over() {
	proven "$1" "$LAB_OUT/locks.err" || over "$1"
}

# A race of this case was told.
seen_or_over() {
	grep -q "^RACE .* gt_$1[_+]" "$LAB_OUT/locks.out" || over "$1"
}

# cleared CASE: it was told that locks or hand-overs put the accesses of this case in order; or the guest waits for it no more.
cleared() {
	grep -q "suspected .*: [a-z -]* ordered its accesses each time: .*gt_$1_" "$LAB_OUT/locks.err" || over "$1"
}

console_input tell
work=
for case in $CASES; do
	work="$work gtcase:$case:1:$SECONDS_EACH"
done
for case in $OTHERS; do
	work="$work gtcase:$case:$CONTROL_SECONDS:$SECONDS_EACH"
done
for case in $HANDED; do
	work="$work gtcase:$case:1:$SECONDS_EACH"
done
: >"$LAB_OUT/locks.err"
: >"$LAB_OUT/console.log"
# The options are words.
# shellcheck disable=SC2086
timeout -k 20 3000 outrider run --kernel vmlinuz --initrd initrd.img --module outrider_gt --rate 1000 --delay 4000 --seed 1 --locks \
	--append "quiet cryptomgr.notests --$work gt:controls:$CONTROL_SECONDS dmesg poweroff" $OPTIONS \
	--json "$LAB_OUT/locks.json" --console "$LAB_OUT/console.log" <>tell >"$LAB_OUT/locks.out" 2>"$LAB_OUT/locks.err" &
pid=$!
# What is said goes to the log of the lab at once, so that a lab that is cut short says how far it came.
busybox tail -f "$LAB_OUT/locks.err" &
teller=$!
# Each case goes on until it is enough. Without outrider there is nothing more to wait for, and its exit status is the lab's.
for case in $CASES; do
	until_true proven_or_over "$case"
	ran || break
	echo "$case: enough"
	echo "enough $case" 1<>tell
done
for case in $OTHERS; do
	until_true seen_or_over "$case"
	ran || break
	echo "enough $case" 1<>tell
done
for case in $HANDED; do
	until_true cleared "$case"
	ran || break
	echo "enough $case" 1<>tell
done
status=0
wait "$pid" || status=$?
kill $teller
echo "locks exit $status" | tee "$LAB_OUT/exits"
exit "$status"
