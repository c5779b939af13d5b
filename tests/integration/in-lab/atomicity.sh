# SPDX-License-Identifier: GPL-2.0-or-later
# The ground truth's groups atomic and atomicfate, for CASE_SECONDS each case, the case pubinit again, in which a section seldom comes in between, and
# atomicright, for RIGHT_SECONDS, with --locks and --replay. Or only the cases CASES. OPTIONS: more of outrider run.
work=
for case in $CASES; do
	work="$work gtcase:$case:$CASE_SECONDS"
done
status=0
# The options are words.
# shellcheck disable=SC2086
timeout -k 20 3000 outrider run --kernel vmlinuz --initrd initrd.img --module outrider_gt --rate 1000 --delay 4000 --seed 1 --locks --replay --replay-for 0 \
	--append "quiet cryptomgr.notests -- ${work:-gt:atomic:$CASE_SECONDS gtcase:pubinit:30 gt:atomicright:$RIGHT_SECONDS gt:atomicfate:$CASE_SECONDS} dmesg poweroff" $OPTIONS \
	--json "$LAB_OUT/atomicity.json" --console "$LAB_OUT/console.log" >"$LAB_OUT/atomicity.out" 2>"$LAB_OUT/atomicity.err" || status=$?
[ $status = 0 ] || tail -n 5 "$LAB_OUT/atomicity.err"
echo "atomicity exit $status" | tee "$LAB_OUT/exits"
