# SPDX-License-Identifier: GPL-2.0-or-later
# What the guest's kernel says against itself, with a console that stays quiet: each kind of complaint in one guest that goes on; an oops that
# ends the run; panics; a race that ends in an oops, with the copies that were made before it; and a run without any complaint.
. ./hung.sh
. ./told.sh

sampled="--module outrider_gt"
limit=600 # seconds of a guest

# guest NAME WORKLOADS [OPTION]...: one guest with the ground-truth module. NAME.json, NAME.out and NAME.err are its results.
guest() {
	guest_name=$1
	workloads=$2
	shift 2
	status=0
	# What is sampled is two words.
	# shellcheck disable=SC2086
	timeout -k 20 $limit outrider run --kernel vmlinuz --initrd initrd.img $sampled --rate 500 --delay 4000 --seed 1 \
		--append "loglevel=0 -- \"sh:insmod /outrider_gt.ko fatal=1\" $workloads" "$@" \
		--json "$LAB_OUT/$guest_name.json" --console "$LAB_OUT/$guest_name.log" >"$LAB_OUT/$guest_name.out" 2>"$LAB_OUT/$guest_name.err" || status=$?
	echo "$guest_name exit $status" | tee -a "$LAB_OUT/exits"
	[ $status != 124 ] || echo "the guest hangs: $guest_name did not end in $limit s"
	cat "$LAB_OUT/$guest_name.err"
}

complain() {
	for kind in "$@"; do
		printf ' "sh:echo complain %s >/proc/outrider_gt"' "$kind"
	done
}

guest kinds "\"sh:sysctl -q kernel.watchdog_thresh=1 kernel.hung_task_timeout_secs=2; echo start rwrace >/proc/outrider_gt\" $(complain warn refcount slab hung list lockup bug null) sleep:2 poweroff" --on-complaint continue
guest stops "$(complain null) sleep:600 poweroff"
guest panics "$(complain panic)" --on-complaint continue
guest races '"sh:echo start nulluse >/proc/outrider_gt" sleep:600 poweroff'
guest stack "$(complain stack)" --on-complaint continue
mkdir kept
# dies_in_region: which order of the scenario whose replay is in again.out dies before its regions have ended: the dying side executes the kernel's
# oops until it is cut off. The other orders that die do so by chance, some time after their regions.
dies_in_region() {
	sed -n 's/^  first order .* is cut off .*; then: .*NULL pointer.*/1/p; s/^  second order .* is cut off .*; then: .*NULL pointer.*/2/p' "$LAB_OUT/again.out"
}

# last_moments: copies from before the oops were run, and an order of one of them dies in its region. Sets `scenario` and `order`.
last_moments() {
	grep -q "copies of the machine before that are run" "$LAB_OUT/held.err" || return 1
	for scenario in kept/*-order-crashes.scenario; do
		[ -s "$scenario" ] || continue
		status=0
		outrider replay --for 500ms "$scenario" >"$LAB_OUT/again.out" 2>"$LAB_OUT/again.err" || status=$?
		cat "$LAB_OUT/again.out" "$LAB_OUT/again.err"
		order=$(dies_in_region | head -n 1)
		[ -z "$order" ] || return 0
	done
	return 1
}

# Both sides of the races that were just found are armed together, so both CPUs stand before their accesses in the second that the guest lives. A
# guest can die before they ever stood so, live on because other races were found, or leave a copy of which no order dies: then the next one.
limit=200
order=
for seed in 1 2 3 4 5 6 7 8; do
	rm -f kept/*
	case $seed in
	*[1357]) sampled="--aim $LAB_OUT/races.json" ;;
	*) sampled="--module outrider_gt" ;;
	esac
	guest held '"sh:echo start nulluse >/proc/outrider_gt" sleep:600 poweroff' --replay --replay-for 500ms --save kept --seed $seed
	! last_moments || break
done
limit=600
sampled="--module outrider_gt"
ls -l kept
[ -z "$order" ] || echo "again exit $status" | tee -a "$LAB_OUT/exits"

# waits: the server waits for gdb; or it has ended.
waits() {
	grep -q "waiting for gdb" "$LAB_OUT/gdb.err" || ! kill -0 $server 2>/dev/null
}

# Serve the order that dies to one gdb, outside of the lab. The line that the lab's output shows lets it connect.
if [ -n "$order" ]; then
	# gdb gives up after 600 s. Then the lab must not wait for another gdb.
	timeout -k 20 700 outrider replay "$scenario" --order "$order" --gdb-tcp "$GDB" 2>"$LAB_OUT/gdb.err" &
	server=$!
	until_true waits
	if [ "$LAB_KIND" = amd ]; then
		stty -F /dev/ttyS2 115200 raw -echo
		nc "${GDB%:*}" "${GDB##*:}" <>/dev/ttyS2 >&0 &
		relay=$!
	fi
	cat "$LAB_OUT/gdb.err"
	echo "gdb may connect: order $order"
	status=0
	wait $server || status=$?
	echo "gdb exit $status" | tee -a "$LAB_OUT/exits"
	[ "$LAB_KIND" != amd ] || kill $relay 2>/dev/null
fi
guest clean 'gtcase:rwrace:2 poweroff'
