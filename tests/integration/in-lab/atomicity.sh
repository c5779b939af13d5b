# SPDX-License-Identifier: GPL-2.0-or-later
# The ground truth's group atomic with --locks, each case for CASE_SECONDS. OPTIONS: more of outrider run.
status=0
# The options are words.
# shellcheck disable=SC2086
timeout -k 20 3000 outrider run --kernel vmlinuz --initrd initrd.img --module outrider_gt --rate 1000 --delay 4000 --seed 1 --locks \
	--append "quiet -- gt:atomic:$CASE_SECONDS dmesg poweroff" $OPTIONS \
	--json "$LAB_OUT/atomicity.json" --console "$LAB_OUT/console.log" >"$LAB_OUT/atomicity.out" 2>"$LAB_OUT/atomicity.err" || status=$?
echo "atomicity exit $status" | tee "$LAB_OUT/exits"
