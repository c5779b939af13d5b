# SPDX-License-Identifier: GPL-2.0-or-later
# Boots a guest without a detector, with one that has nothing to sample, and with one that samples the whole kernel. $LAB_OUT/boots gets "ARM SECONDS",
# from outrider's start to the first line of the guest's /init. Once each, since time is counted here.
. ./told.sh

seconds_up() {
	cut -d' ' -f1 /proc/uptime
}

up() {
	kill -0 $guest 2>/dev/null || return 0
	grep -q -a 'count: ready' "$LAB_OUT/$arm.console"
}

# boot ARM OPTION...
boot() {
	arm=$1
	shift
	: >"$LAB_OUT/$arm.console"
	console_input input
	began=$(seconds_up)
	outrider run --kernel vmlinuz --initrd initrd.img --append "quiet -- count:1" --cpus "$CPUS" "$@" --console "$LAB_OUT/$arm.console" \
		>"$LAB_OUT/$arm.said" 2>&1 <>input &
	guest=$!
	until_true up
	echo "$arm $(seconds_up) $began" | awk '{ print $1, $2 - $3 }' >>"$LAB_OUT/boots"
	echo go 1<>input
	wait $guest && grep -q -a 'count: done' "$LAB_OUT/$arm.console" && return 0
	tail -n 3 "$LAB_OUT/$arm.said" "$LAB_OUT/$arm.console"
	exit 1
}

boot bare --no-detect
boot waiting --module never_loaded
boot sampling --seed 1
