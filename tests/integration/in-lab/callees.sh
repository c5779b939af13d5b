# SPDX-License-Identifier: GPL-2.0-or-later
# The ground truth's cases whose accesses are made in functions of the kernel, in two guests: one in which the module alone is sampled, and one in
# which the functions of one case and what they call are sampled, until their race is found.
. ./hung.sh

# guest NAME [OPTION]...: in the background; $run is its process. NAME.json, NAME.out and NAME.err are its results.
guest() {
	guest_name=$1
	shift
	timeout -k 20 1800 outrider run --kernel vmlinuz --initrd initrd.img --rate 500 --delay 3000 --seed 1 "$@" \
		--append 'quiet cryptomgr.notests -- "sh:insmod /outrider_gt.ko callees=1; echo start tags >/proc/outrider_gt; echo start othertags >/proc/outrider_gt" sleep:3600 poweroff' \
		--json "$LAB_OUT/$guest_name.json" --console "$LAB_OUT/$guest_name.log" >"$LAB_OUT/$guest_name.out" 2>"$LAB_OUT/$guest_name.err" &
	run=$!
}

# ended: wait for the guest. It must have ended well.
ended() {
	wait $run
	status=$?
	cat "$LAB_OUT/$guest_name.err"
	[ $status = 0 ] && return
	echo "$guest_name: exit status $status"
	exit 1
}

guest without --module outrider_gt --duration "${SECONDS_WITHOUT:-20s}"
ended
guest with --sample 'gt_tags_*' --sample-with-callees
until busybox grep -q '"function": "radix_tree_tag_' "$LAB_OUT/with.json" || ! kill -0 $run; do
	sleep 1
done
kill -INT $run
ended
busybox tail -n 20 "$LAB_OUT/with.out"
