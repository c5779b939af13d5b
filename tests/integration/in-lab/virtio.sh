# SPDX-License-Identifier: GPL-2.0-or-later
# Guests with a disk, an entropy device and a network card: several kernels and numbers of CPUs, and one that may not use MSI-X.
# NEWEST: the suite of the newest kernel.
truncate -s 8M scratch.img

run() {
	guest=$1
	kernel=$2
	shift 2
	status=0
	timeout -k 20 1200 outrider run --kernel "vmlinuz-$kernel" --initrd "$kernel.img" --no-detect --disk scratch.img,overlay \
		--rng --net user --console "$LAB_OUT/$guest.log" "$@" </dev/null || status=$?
	echo "$guest exit $status" >>"$LAB_OUT/exits"
}

run one default --cpus 1 --append quiet
run two default --cpus 2 --append quiet
run four default --cpus 4 --append quiet
run sixteen default --cpus 16 --append quiet
run intx default --cpus 2 --append "quiet pci=nomsi"
run old bullseye --cpus 2 --append quiet
run new bookworm-backports --cpus 2 --append quiet
run newest "$NEWEST" --cpus 2 --append quiet
