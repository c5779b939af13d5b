# SPDX-License-Identifier: GPL-2.0-or-later
# Races that are run in both orders: CASES of the ground truth, each until INSTANCES of its instances were run. OPTIONS: more of outrider run.
. ./told.sh

# enough_of CASE: the line after a race of this case says that INSTANCES of its instances were run; or outrider has ended.
enough_of() {
	grep -A1 "^RACE .*gt_$1_.* <-> .*gt_$1_" "$LAB_OUT/replay.out" | grep -q "^  both orders run $INSTANCES times\\?[:,]" || ! kill -0 "$pid"
}

console_input tell
work=
for case in $CASES; do
	work="$work gtcase:$case:1:1200"
done
# The options are words.
# shellcheck disable=SC2086
timeout -k 20 2400 outrider run --kernel vmlinuz --initrd initrd.img --module outrider_gt --rate 1000 --delay 4000 --seed 1 --replay \
	--append "quiet cryptomgr.notests --$work dmesg poweroff" $OPTIONS \
	--json "$LAB_OUT/replay.json" --console "$LAB_OUT/replay.log" <>tell >"$LAB_OUT/replay.out" 2>"$LAB_OUT/replay.err" &
pid=$!
for case in $CASES; do
	until_true enough_of "$case"
	echo "enough $case" >tell
done
status=0
wait "$pid" || status=$?
echo "replay exit $status" >"$LAB_OUT/exits"
grep -l '^outrider$' /proc/[0-9]*/comm >"$LAB_OUT/left" 2>/dev/null
cat "$LAB_OUT/replay.err"
