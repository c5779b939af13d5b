# SPDX-License-Identifier: GPL-2.0-or-later
# Every ground-truth case in one boot, sampling in the module: the racy ones until they are found and for a second more, for which a
# verdict has its instances; then the controls, CONTROL_SECONDS each. SEED as given.
. ./told.sh
. ./hung.sh

console_input tell
end_if_hung "$LAB_OUT/console.log" $((CASE_LIMIT * 4)) tell &
guard=$!
told tell timeout -k 20 "$RUN_LIMIT" outrider run --kernel vmlinuz --initrd initrd.img \
	--append "quiet -- gt:racy:1:$CASE_LIMIT gt:controls:$CONTROL_SECONDS dmesg poweroff" --module outrider_gt \
	--rate 1000 --delay 2000 --seed "$SEED" --json "$LAB_OUT/races.json" --coverage "$LAB_OUT/coverage.json" \
	--console "$LAB_OUT/console.log"
status=$?

kill $guard
[ $status = 0 ] || exit $status
# busybox's timeout has the status of what it stopped, so a guest that hung looks like one that was stopped on request.
busybox grep -a -q "reboot: Power down" "$LAB_OUT/console.log" || {
	echo "the guest did not power off; its last lines:"
	busybox tail -n 4 "$LAB_OUT/console.log"
	exit 1
}
