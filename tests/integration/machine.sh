# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scripts in the labs: machines with a Debian system, started, typed to and listened to over their serial console.
# A machine is known by its name. NAME.console is what its console said, NAME.in a FIFO to its keyboard, NAME.pid its process.

# machine_start NAME COMMAND...: the command is the machine. It has the FIFO for its standard input.
machine_start() {
	machine=$1
	shift
	rm -f "$machine.in" "$machine.console"
	mkfifo "$machine.in"
	: >"$machine.console"
	# With <> opening the FIFO does not wait for its other end, and the machine's keyboard never ends.
	"$@" <>"$machine.in" &
	echo $! >"$machine.pid"
}

# machine_runs NAME
machine_runs() {
	kill -0 "$(cat "$1.pid")" 2>/dev/null
}

# machine_says NAME REGEX: wait for a line of the console. Fails when the machine ends before. The lab's own limit is the only clock.
machine_says() {
	until grep -a -q "$2" "$1.console"; do
		if ! machine_runs "$1"; then
			grep -a -q "$2" "$1.console"
			return
		fi
		usleep 50000
	done
}

# machine_types NAME LINE
machine_types() {
	printf '%s\n' "$2" >>"$1.in"
}

# machine_does NAME DEVICE ARGUMENT...: once root is logged in, run the tar archive's work.sh that is on the disk DEVICE. $login is when that
# was, in seconds of the lab's uptime.
machine_does() {
	machine_says "$1" 'root@outrider:~#' || return 1
	login=$(cut -d' ' -f1 /proc/uptime)
	does=$1
	device=$2
	shift 2
	machine_types "$does" "mkdir /run/work && tar -xf $device -C /run/work && sh /run/work/work.sh $*"
}

# machine_ends NAME: wait for it; the status is that of its process.
machine_ends() {
	wait "$(cat "$1.pid")"
}
