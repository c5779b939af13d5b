# SPDX-License-Identifier: GPL-2.0-or-later
# Races that are run in both orders: two cases of the ground truth, each until two of its instances were run.
. ./told.sh

# twice CASE: the line behind a race of this case says that two of its instances were run; or outrider has ended.
twice() {
	grep -A1 "^RACE .*gt_$1_.* <-> .*gt_$1_" "$LAB_OUT/replay.out" | grep -q '^  both orders run 2 times' || ! kill -0 "$pid"
}

console_input tell
timeout -k 20 2400 outrider run --kernel vmlinuz --initrd initrd.img --module outrider_gt --rate 1000 --delay 4000 --seed 1 --replay \
	--append 'quiet -- gtcase:samevalue:1:1200 gtcase:nlink:1:1200 dmesg poweroff' \
	--json "$LAB_OUT/replay.json" --console "$LAB_OUT/replay.log" <>tell >"$LAB_OUT/replay.out" 2>"$LAB_OUT/replay.err" &
pid=$!
for case in samevalue nlink; do
	until_true twice "$case"
	echo "enough $case" >tell
done
status=0
wait "$pid" || status=$?
echo "replay exit $status" >"$LAB_OUT/exits"
grep -l '^outrider$' /proc/[0-9]*/comm >"$LAB_OUT/left" 2>/dev/null
cat "$LAB_OUT/replay.err"
