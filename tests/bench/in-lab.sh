# SPDX-License-Identifier: GPL-2.0-or-later
# The same kernel, initial RAM disk, root disk and work in outrider and in QEMU, in turns, so that what else the host does falls on all.
# $LAB_OUT/measured gets "MACHINE NAME VALUE" lines. ROOT, WORK: the disks. ROUNDS, SECONDS_EACH.
. ./machine.sh
. ./hosts.sh

busybox dd if=/dev/zero of=/tmp/data bs=1048576 count=256 2>/dev/null && serve_network || exit 1
line="root=/dev/vda quiet systemd.show_status=0 console=ttyS0"
memory=512
disks="$ROOT $WORK,ro /tmp/data"

# measure MACHINE
measure() {
	kind=$1
	console=$kind.console
	: >"$console"
	rm -f "$kind.in"
	mkfifo "$kind.in"
	began=$(seconds_up)
	on "$kind" <>"$kind.in" >"$kind.said" 2>&1 &
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
	for machine in outrider-no-detector outrider-none-armed qemu-q35 qemu-microvm; do
		measure $machine
	done
done
