# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scripts in the labs: one guest with one vCPU in outrider or in QEMU, with the same kernel, initial RAM disk, disks and network.
# They read $line (the kernel's command line), $memory (MiB), $disks (paths, in order; PATH,ro is read-only) and $console (a file). In outrider
# there may be $cpus vCPUs.

on_outrider() {
	for disk in $disks; do
		set -- --disk "$disk" "$@"
	done
	outrider run --kernel vmlinuz --initrd initrd.img --cpus "${cpus:-1}" --memory "${memory}M" --net user --append "$line" --console "$console" "$@"
}

# on_qemu BOARD
on_qemu() {
	board=$1
	shift
	number=0
	for disk in $disks; do
		number=$((number + 1))
		path=${disk%,ro}
		access=cache=writeback
		[ "$path" = "$disk" ] || access=readonly=on
		set -- "$@" -drive "file=$path,format=raw,if=none,id=disk$number,$access,aio=threads" -device "virtio-blk-pci,drive=disk$number"
	done
	qemu-system-x86_64 -L firmware -nodefaults -no-user-config -no-reboot -display none -accel kvm -cpu host -smp 1 -m "$memory" -M "$board" \
		-kernel vmlinuz -initrd initrd.img -append "$line" -chardev "stdio,id=console,signal=off,logfile=$console" \
		-serial chardev:console -netdev user,id=net -device virtio-net-pci,netdev=net,romfile= "$@"
}

# on MACHINE [OPTION]...: the machine that the table calls so.
on() {
	machine_name=$1
	shift
	case $machine_name in
	outrider-no-detector) on_outrider --no-detect "$@" ;;
	outrider-none-armed) on_outrider --module never_loaded "$@" ;;
	outrider-drivers) on_outrider --module virtio_net,virtio_blk "$@" ;;
	outrider-drivers-locks) on_outrider --module virtio_net,virtio_blk --locks "$@" ;;
	qemu-q35) on_qemu q35 "$@" ;;
	qemu-microvm) on_qemu microvm,pcie=on,rtc=on "$@" ;;
	esac
}

seconds_up() {
	cut -d' ' -f1 /proc/uptime
}

# The guest does not reach loopback addresses, so the lab gets an address that is none, with a server for the network's measurements.
serve_network() {
	ip address add 192.0.2.1/32 dev lo && iperf3 -s -D -B 192.0.2.1
}
