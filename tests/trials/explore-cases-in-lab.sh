# SPDX-License-Identifier: GPL-2.0-or-later
# In a lab: outrider explore of one step of each side of each case of CASES, with OPTIONS. The file timers has the names of cases whose side 1 is
# a timer's interrupt, and those of its function. What comes back for each case: CASE.json, CASE.err.
for case in $CASES; do
	also=$(busybox sed -n "s/^$case /--b-also /p" timers)
	# The options are words.
	# shellcheck disable=SC2086
	outrider explore --kernel vmlinuz --initrd initrd.img --prepare "insmod /outrider_gt.ko; echo prepare $case >/proc/outrider_gt" \
		--a "echo step $case 0 >/proc/outrider_gt" --b "echo step $case 1 >/proc/outrider_gt" --keep-going --format json $also $OPTIONS \
		>"$LAB_OUT/$case.json" 2>"$LAB_OUT/$case.err" || :
	echo "$case: $(busybox grep -c ": trial" "$LAB_OUT/$case.err") trials"
done
