# SPDX-License-Identifier: GPL-2.0-or-later
# The ground-truth cases of RACY_GROUPS (default: racy) in one boot, sampling in the module: each until it is found and for a second more, in which
# its verdict gets more instances. Then CONTROLS (names of cases; default: the group), CONTROL_SECONDS each. SEED as given.
. ./told.sh
. ./hung.sh

words=
for group in ${RACY_GROUPS:-racy}; do
	words="$words gt:$group:1:$CASE_LIMIT"
done

quiet=
for case in ${CONTROLS:-}; do
	quiet="$quiet gtcase:$case:$CONTROL_SECONDS"
done

console_input tell
end_if_hung "$LAB_OUT/console.log" $((CASE_LIMIT * 4)) tell &
guard=$!
told tell timeout -k 20 "$RUN_LIMIT" outrider run --kernel vmlinuz --initrd initrd.img \
	--append "quiet cryptomgr.notests --$words ${quiet:-gt:controls:$CONTROL_SECONDS} dmesg poweroff" --module outrider_gt \
	--rate 1000 --delay 2000 --seed "$SEED" --json "$LAB_OUT/races.json" --coverage "$LAB_OUT/coverage.json" \
	--console "$LAB_OUT/console.log"
status=$?

kill $guard
[ $status = 0 ] || exit $status
# busybox's timeout exits with the status of the command that it stopped, so a hung guest looks like a guest that was stopped on request.
busybox grep -a -q "reboot: Power down" "$LAB_OUT/console.log" || {
	echo "the guest did not power off; its last lines:"
	busybox tail -n 4 "$LAB_OUT/console.log"
	exit 1
}
