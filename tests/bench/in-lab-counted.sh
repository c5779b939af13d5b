# SPDX-License-Identifier: GPL-2.0-or-later
# The guest of counted-init in MACHINE. $LAB_OUT/measured gets "MACHINE NAME VALUE" lines. COUNT is how much work there is.
. ./hosts.sh

busybox dd if=/dev/zero of=/tmp/data bs=1048576 count=32 2>/dev/null && serve_network || exit 1
line="quiet console=ttyS0 count=$COUNT"
memory=256
disks=/tmp/data
console=$LAB_OUT/$MACHINE.console

: >"$console"
began=$(seconds_up)
on "$MACHINE" </dev/null >"$LAB_OUT/$MACHINE.said" 2>&1 &
machine=$!
until grep -a -q '^bench: begin' "$console"; do
	kill -0 $machine || { tail -n 5 "$LAB_OUT/$MACHINE.said" "$console"; exit 1; }
	usleep 200000
done
echo "$MACHINE boot-s $(seconds_up) $began" | awk '{ print $1, $2, $3 - $4 }' >>"$LAB_OUT/measured"
wait $machine || { echo "$MACHINE: status $?"; tail -n 5 "$LAB_OUT/$MACHINE.said" "$console"; exit 1; }
grep -a -q '^bench: end' "$console" || { tail -n 5 "$console"; exit 1; }
grep -a -o '^bench: .*/s [0-9.]*' "$console" | sed "s/^bench:/$MACHINE/" >>"$LAB_OUT/measured"
