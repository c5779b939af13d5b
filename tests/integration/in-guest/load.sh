# SPDX-License-Identifier: GPL-2.0-or-later
# Run by root's shell in a Debian guest: disk and network at work for SECONDS (the argument), with data verified, then the kernel's log.
# 192.0.2.1 has iperf3 at port 5201.
seconds=$1
/lib/systemd/systemd-networkd-wait-online --any --ipv4 --operational-state=routable --timeout=600
end=$(($(cut -d. -f1 /proc/uptime) + seconds))

before_end() {
	[ "$(cut -d. -f1 /proc/uptime)" -lt $end ]
}

# Past the page cache and through it.
disk() {
	while before_end; do
		for how in "write 1" "randwrite 1" "randrw 0"; do
			fio --name=load --rw="${how% *}" --directory=/root --bsrange=4k-64k --size=8m --numjobs=4 --ioengine=libaio --iodepth=8 --direct="${how#* }" \
				--verify=crc32c --verify_fatal=1 --do_verify=1 --end_fsync=1 --group_reporting >/run/fio.said 2>&1 || return 1
		done
		rounds=$((rounds + 1))
	done
	echo "work: fio rounds=$rounds 0 "
}

network() {
	while before_end; do
		iperf3 -c 192.0.2.1 -t 20 >/run/iperf3.said 2>&1 && iperf3 -c 192.0.2.1 -t 20 -R >/run/iperf3.said 2>&1 || return 1
		rounds=$((rounds + 1))
	done
	echo "work: iperf3 rounds=$rounds 0 "
}

rounds=0
network || echo "work: iperf3 failed: $(tail -n 1 /run/iperf3.said)" &
disk || echo "work: fio failed: $(tail -n 1 /run/fio.said)"
wait
dmesg --level=emerg,alert,crit,err,warn | sed 's/^/work: dmesg: /'
dmesg --level=emerg,alert,crit,err | grep -q . || echo "work: dmesg 0 "
echo "work: done"
poweroff
