# SPDX-License-Identifier: GPL-2.0-or-later
# Guests that count their work: without a detector, with nothing armed, and at each of RATES, in turn, ROUNDS times. Beside ARM-ROUND.console,
# ARM-ROUND.marks has how many lines of --stats-every there were when each work was counted.
. ./told.sh

# The first seconds of sampling are of the time in which points are being armed.
ready() {
	kill -0 $guest 2>/dev/null || return 0
	grep -q -a 'count: ready' "$name.console" || return 1
	case $arm in
	none | idle) ;;
	*) [ "$(grep -c 's sampled: ' "$name.said")" -ge 20 ] ;;
	esac
}

# counted N: the guest has counted at least N works, or has ended.
counted() {
	kill -0 $guest 2>/dev/null || return 0
	[ "$(grep -a -c '^count [a-z]* [0-9]' "$name.console")" -ge "$1" ]
}

# count ARM ROUND OPTION...
count() {
	arm=$1
	name=$LAB_OUT/$1-$2
	shift 2
	: >"$name.console"
	console_input input
	outrider run --kernel vmlinuz --initrd initrd.img --append "quiet -- count:$COUNT_SECONDS" --cpus "$CPUS" "$@" --console "$name.console" \
		>"$name.said" 2>&1 <>input &
	guest=$!
	until_true ready
	echo go 1<>input
	for work in 1 2 3 4 5; do
		grep -c 's sampled: ' "$name.said" >>"$name.marks"
		until_true counted $work
	done
	grep -c 's sampled: ' "$name.said" >>"$name.marks"
	wait $guest && grep -q -a 'count: done' "$name.console" && return 0
	tail -n 3 "$name.said" "$name.console"
	exit 1
}

round=0
while [ $round -lt "$ROUNDS" ]; do
	round=$((round + 1))
	count none $round --no-detect
	count idle $round --module never_loaded
	for rate in $RATES; do
		count "rate-$rate" $round --sample "$SAMPLE" --rate "$rate" --seed $round --stats-every 1s --json "$LAB_OUT/rate-$rate-$round.json"
	done
done
