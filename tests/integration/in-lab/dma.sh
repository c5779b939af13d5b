# SPDX-License-Identifier: GPL-2.0-or-later
# Races with a disk and an entropy device in one boot, sampling SAMPLE: the racy cases of GROUPS_RUN until they are found and for a second
# more, then each of CONTROLS for CONTROL_SECONDS. SEED as given.
# OPTIONS: of outrider run, more, a word each.
. ./told.sh

truncate -s 8M scratch.img
console_input tell
cases=
for group in $GROUPS_RUN; do
	cases="$cases gt:$group:1:$CASE_LIMIT"
done
for control in $CONTROLS; do
	cases="$cases gtcase:$control:$CONTROL_SECONDS"
done
# The options are words.
# shellcheck disable=SC2086
told tell timeout -k 20 "$RUN_LIMIT" outrider run --kernel vmlinuz --initrd initrd.img --disk scratch.img,overlay --rng \
	--append "quiet cryptomgr.notests -- modules$cases dmesg poweroff" --sample "$SAMPLE" \
	--rate 1000 --delay 2000 --seed "$SEED" --json "$LAB_OUT/races.json" --console "$LAB_OUT/console.log" ${OPTIONS:-}
