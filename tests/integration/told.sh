# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scripts in the labs and by integration tests: guests that go on until "enough" comes over their console.
# Uses ../ground-truth/enough.awk; in a lab, that file and "expected" are in the working folder.

# until_true COMMAND...: try it five times a second until it succeeds. The limit, twenty minutes or more, is not there to be reached.
until_true() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 6000 ] || return 1
		sleep 0.2
	done
}

# console_input FIFO: make it. Who opens it with <>FIFO neither waits for the other end nor sees it end.
console_input() {
	rm -f "$1"
	mkfifo "$1"
}

# told FIFO COMMAND...: an outrider whose output tells the guest, through FIFO, which cases are found; it also has FIFO for its standard
# input, which an outrider run hands on to the guest. RACES: after this number of races, the workload
# busy has enough too. The status is the command's, its process FIFO.pid.
told() {
	fifo=$1
	shift
	{
		told_status=0
		"$@" <>"$fifo" &
		echo $! >"$fifo.pid"
		wait $! || told_status=$?
		echo $told_status >"$fifo.status"
	} | busybox awk -v "tell=$fifo" -v "races=${RACES:-0}" -f "${enough_awk:-enough.awk}" "${expected:-expected}" - 9<>"$fifo"
	return "$(cat "$fifo.status")"
}

# proven CASE ERRORS: what an outrider that follows locks said on standard error, the file ERRORS, has a suspicion about functions of this case
# whose race was seen.
proven() {
	for id in $(sed -n "s/^.*suspected \([0-9a-f]*\): .*gt_$1_.*/\1/p" "$2"); do
		grep -q "suspected $id: the race was seen" "$2" && return 0
	done
	return 1
}
