# SPDX-License-Identifier: GPL-2.0-or-later
# A guest of QEMU on the lab's KVM, attached to through QEMU's gdbstub while it runs the harness.
qemu-system-x86_64 -accel kvm -cpu host -smp 2 -m 512 -L qemu-data -nographic -nodefaults -no-reboot -kernel vmlinuz -initrd initrd.img \
	-append "console=ttyS0 quiet cryptomgr.notests -- loop:5 sleep:4 loop:5 gt:all:$CASE_SECONDS dmesg poweroff" -serial "file:$LAB_OUT/console.log" \
	-gdb unix:gdb.sock,server=on,wait=off &
qemu=$!

# wait_for TEXT: until the guest has said so.
wait_for() {
	tries=0
	until grep -a -q "$1" "$LAB_OUT/console.log" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || return 1
		usleep 100000
	done
}

wait_for "sleep:4: start" || exit 1
outrider attach --gdb unix:gdb.sock --duration 7s --seed 1 || exit
wait_for "gt:all:$CASE_SECONDS: start" || exit 1
timeout -k 20 400 outrider attach --gdb unix:gdb.sock --module outrider_gt --rate 300 --delay 3000 --seed 1 --json "$LAB_OUT/races.json" || exit
wait $qemu
