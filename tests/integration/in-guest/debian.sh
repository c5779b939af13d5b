# SPDX-License-Identifier: GPL-2.0-or-later
# Run by root's shell in a Debian guest: the work that a real system does, each step with a line "work: NAME STATUS", at last "work: done".
# At $server the host has an apt repository at port 8000 and iperf3 at port 5201.
# Arguments: SECONDS for each direction of the network and each stressor; STRESSORS that stress-ng runs one after another; CLASSES of
# stressors, joined by commas, of which stress-ng runs each for a second ("none": none).
server=192.0.2.1
seconds=$1
stressors=$2
classes=$3
export TERM=dumb SYSTEMD_PAGER='' DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

step() {
	name=$1
	shift
	status=0
	"$@" >"/run/$name.said" 2>&1 || status=$?
	[ $status = 0 ] || sed "s/^/work: $name: /" "/run/$name.said"
	echo "work: $name $status after $(cut -d' ' -f1 /proc/uptime) s"
}

# Read back what was written: 4 jobs each, sequential and random, with a checksum in every block.
verify() {
	fio --name="$1" --rw="$1" --directory=/root --bsrange=4k-64k --size=2m --numjobs=4 --ioengine=libaio --iodepth=8 --direct=1 \
		--verify=crc32c --verify_fatal=1 --do_verify=1 --end_fsync=1 --group_reporting &&
		rm -f /root/"$1".*
}

address() {
	/lib/systemd/systemd-networkd-wait-online --any --ipv4 --operational-state=routable --timeout=600 && ip -4 route get $server && return
	network_state
	return 1
}

transfer() {
	iperf3 -c $server -t "$seconds" "$@" && return
	network_state
	return 1
}

install() {
	echo "deb [trusted=yes] http://$server:8000/ ./" >/etc/apt/sources.list
	apt-get -q update && apt-get -q install -y outrider-hello && [ "$(outrider-hello)" = "hello, outrider" ]
}

# Prints the state of the network, so that a failed test shows why the guest has no network.
network_state() {
	ip -4 address
	ip -4 route
	networkctl --no-pager status --all
	journalctl --no-pager -u systemd-networkd
}

running() {
	state=$(systemctl is-system-running --wait)
	echo "$state"
	[ "$state" = running ] || { systemctl --failed; return 1; }
}

stress() {
	for stressor in $stressors; do
		stress-ng --temp-path /root --timeout "$seconds" --verify --"$stressor" 2 || return 1
	done
}

# Every stressor of the classes in turn. stress-ng leaves out what cannot run here, and says so by status 3 (no memory, no threads, no such file
# system) or 4 (not made for this kernel). What it finds wrong is 2, and a stressor that dies is 5 or more.
all_of_classes() {
	stressed=0
	stress-ng --temp-path /root --timeout 1 --verify --class "$classes" --sequential 2 || stressed=$?
	[ $stressed = 0 ] || [ $stressed = 3 ] || [ $stressed = 4 ]
}

# Warnings are shown; errors, and what a kernel says with a warning's level of a fault of its own, are complaints.
complaints() {
	dmesg --level=emerg,alert,crit,err,warn
	! dmesg --level=emerg,alert,crit,err | grep . || return 1
	! dmesg | grep -E 'WARNING:|BUG:|Call Trace:|rcu_sched|soft lockup|hung_task|blocked for more than|I/O error'
}

step running running
step address address
step fio-seq verify write
step fio-random verify randwrite
step net-out transfer
step net-in transfer -R
step apt install
step stress stress
if [ "$classes" != none ]; then
	step classes all_of_classes
	grep -E 'dispatching|: fail:|skipping|aborted early|run completed' /run/classes.said | sed 's/^/work: summary: /'
fi
sync
step dmesg complaints
sed 's/^/work: dmesg: /' /run/dmesg.said
echo "work: done"
poweroff
