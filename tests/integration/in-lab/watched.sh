# SPDX-License-Identifier: GPL-2.0-or-later
# watched.sh SCRIPT: runs the script, and ends it if the lab stands still: for STILL seconds, nothing was printed and no file was written.
# Then this prints "the guest hangs", and what can be seen of each outrider.
. ./hung.sh

STILL=${STILL:-600} # Seconds. On a busy machine, no script was silent for a tenth of this.
LOOK=20 # Seconds between two looks.

# printed: the count of bytes that the lab's init has sent on ttyS1, the script's output.
printed() {
	busybox grep '^1:' /proc/tty/driver/serial | busybox sed 's/.* tx:\([0-9]*\).*/\1/'
}

# stands_still PID: waits until it is so. Fails if the process has ended.
stands_still() {
	silent=0
	while [ $silent -lt $STILL ]; do
		kill -0 "$1" 2>/dev/null || return 1
		before=$(printed)
		: >watched.stamp
		sleep $LOOK
		silent=$((silent + LOOK))
		[ "$(printed)" = "$before" ] && [ -z "$(busybox find . "$LAB_OUT" -type f -newer watched.stamp | busybox head -n 1)" ] || silent=0
	done
}

# watch PID
watch() {
	stands_still "$1" || return 0
	echo "the guest hangs: the lab stood still for $STILL s; its processes:"
	busybox ps -o pid,ppid,stat,time,args | busybox grep -v '\]$'
	for process in $(busybox pidof outrider); do
		echo "outrider $process:"
		post_mortem "$process"
	done
	kill "$1"
	busybox killall -9 outrider
}

# A native lab is this machine, and its user can see what stands still.
[ "$LAB_KIND" = native ] || watch $$ &
exec sh "$1"
