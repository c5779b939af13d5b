# SPDX-License-Identifier: GPL-2.0-or-later
# The same kernel, initial RAM disk, root disk and work in outrider and in QEMU, in turns, so that what else the host does falls on all.
# $LAB_OUT/measured gets "MACHINE NAME VALUE" lines. ROOT, WORK: the disks. ROUNDS, SECONDS_EACH.
. ./machine.sh

busybox dd if=/dev/zero of=/tmp/data bs=1048576 count=256 2>/dev/null || exit 1
# The guest does not reach loopback addresses, so the lab gets an address that is none.
ip address add 192.0.2.1/32 dev lo || exit 1
iperf3 -s -D -B 192.0.2.1 || exit 1
line="root=/dev/vda quiet systemd.show_status=0 console=ttyS0"

on_outrider() {
	outrider run --kernel vmlinuz --initrd initrd.img --cpus 1 --memory 512M --disk "$ROOT" --disk "$WORK,ro" --disk /tmp/data --net user \
		--append "$line" --console "$console" "$@"
}

on_qemu() {
	board=$1
	shift
	qemu-system-x86_64 -L firmware -nodefaults -no-user-config -no-reboot -display none -accel kvm -cpu host -smp 1 -m 512 -M "$board" \
		-kernel vmlinuz -initrd initrd.img -append "$line" \
		-chardev "stdio,id=console,signal=off,logfile=$console" -serial chardev:console \
		-drive "file=$ROOT,format=raw,if=none,id=root,cache=writeback,aio=threads" -device virtio-blk-pci,drive=root \
		-drive "file=$WORK,format=raw,if=none,id=work,readonly=on" -device virtio-blk-pci,drive=work \
		-drive "file=/tmp/data,format=raw,if=none,id=data,cache=writeback,aio=threads" -device virtio-blk-pci,drive=data \
		-netdev user,id=net -device virtio-net-pci,netdev=net,romfile= "$@"
}

seconds_up() {
	cut -d' ' -f1 /proc/uptime
}

# measure MACHINE COMMAND...
measure() {
	kind=$1
	shift
	console=$kind.console
	: >"$console"
	rm -f "$kind.in"
	mkfifo "$kind.in"
	began=$(seconds_up)
	"$@" <>"$kind.in" >"$kind.said" 2>&1 &
	echo $! >"$kind.pid"
	if ! machine_does "$kind" /dev/vdb "$SECONDS_EACH"; then
		echo "$kind: no login"
		tail -n 5 "$kind.said" "$console"
		exit 1
	fi
	echo "$kind boot-s $login $began" | awk '{ print $1, $2, $3 - $4 }' >>"$LAB_OUT/measured"
	machine_ends "$kind" || { echo "$kind: status $?"; tail -n 5 "$kind.said" "$console"; exit 1; }
	grep -a -o 'bench: .*/s [0-9.]*' "$console" | sed "s/^bench:/$kind/" >>"$LAB_OUT/measured"
	cp "$console" "$LAB_OUT"
}

round=0
while [ $round -lt "$ROUNDS" ]; do
	round=$((round + 1))
	measure outrider-no-detector on_outrider --no-detect
	measure outrider-none-armed on_outrider --module never_loaded
	measure qemu-q35 on_qemu q35
	measure qemu-microvm on_qemu microvm,pcie=on,rtc=on
done
