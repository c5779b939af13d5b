# SPDX-License-Identifier: GPL-2.0-or-later
# Run by root's shell in a Debian guest: throughput of the disk /dev/vdc and of the network, a line "bench: NAME VALUE" each.
# Arguments: SECONDS for each.
server=192.0.2.1
seconds=$1

# disk NAME FIELD OPTION...: the number in that field of fio's terse output (version 3).
disk() {
	measured=$1
	field=$2
	shift 2
	fio --name=bench --filename=/dev/vdc --direct=1 --ioengine=libaio --runtime="$seconds" --time_based --output-format=terse \
		--terse-version=3 "$@" | awk -F';' -v "field=$field" -v "measured=$measured" '{ print "bench: " measured, $field }'
}

# network NAME OPTION...: Mbit/s at the receiver.
network() {
	measured=$1
	shift
	iperf3 -c $server -t "$seconds" -f m "$@" | awk -v "measured=$measured" '/receiver/ { print "bench: " measured, $7 }'
}

# Fields 7 and 48 are KiB/s read and written, 8 and 49 are operations a second.
disk disk-read-KiB/s 7 --rw=read --bs=128k --iodepth=8
disk disk-write-KiB/s 48 --rw=write --bs=128k --iodepth=8
disk disk-random-read-op/s 8 --rw=randread --bs=4k --iodepth=16
disk disk-random-write-op/s 49 --rw=randwrite --bs=4k --iodepth=16
disk disk-one-read-at-a-time-op/s 8 --rw=randread --bs=4k --iodepth=1
/lib/systemd/systemd-networkd-wait-online --any --ipv4 --operational-state=routable --timeout=600
network network-out-Mbit/s
network network-in-Mbit/s -R
echo "bench: end"
poweroff
