# SPDX-License-Identifier: GPL-2.0-or-later
# Locks are followed: CASES of the ground truth, each until the race was suspected and seen, or SECONDS_EACH are over; then the cases OTHERS,
# each until its race was seen and for CONTROL_SECONDS more; then all controls, each for CONTROL_SECONDS. OPTIONS: more of outrider run.
. ./told.sh

# proven CASE: a suspicion about functions of this case was told, and its race was seen; or outrider has ended.
proven() {
	for id in $(sed -n "s/^.*suspected \([0-9a-f]*\): .*gt_$1_.*/\1/p" "$LAB_OUT/locks.err"); do
		grep -q "suspected $id: the race was seen" "$LAB_OUT/locks.err" && return 0
	done
	! kill -0 "$pid"
}

# seen CASE: a race of this case was told; or outrider has ended.
seen() {
	grep -q "^RACE .* gt_$1[_+]" "$LAB_OUT/locks.out" || ! kill -0 "$pid"
}

console_input tell
work=
for case in $CASES; do
	work="$work gtcase:$case:1:$SECONDS_EACH"
done
for case in $OTHERS; do
	work="$work gtcase:$case:$CONTROL_SECONDS:$SECONDS_EACH"
done
# The options are words.
# shellcheck disable=SC2086
timeout -k 20 3000 outrider run --kernel vmlinuz --initrd initrd.img --module outrider_gt --rate 1000 --delay 4000 --seed 1 --locks \
	--append "quiet --$work gt:controls:$CONTROL_SECONDS dmesg poweroff" $OPTIONS \
	--json "$LAB_OUT/locks.json" --console "$LAB_OUT/console.log" <>tell >"$LAB_OUT/locks.out" 2>"$LAB_OUT/locks.err" &
pid=$!
for case in $CASES; do
	until_true proven "$case"
	echo "enough $case" >tell
done
for case in $OTHERS; do
	until_true seen "$case"
	echo "enough $case" >tell
done
status=0
wait "$pid" || status=$?
echo "locks exit $status" >"$LAB_OUT/exits"
cat "$LAB_OUT/locks.err"
