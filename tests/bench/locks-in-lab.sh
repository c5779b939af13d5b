# SPDX-License-Identifier: GPL-2.0-or-later
# The guest of counted-init without a detector, with one, and with one that follows locks, in turn. $LAB_OUT/measured gets "ARM NAME VALUE" lines.
# COUNT, ROUNDS, CPUS.
. ./hosts.sh

busybox dd if=/dev/zero of=/tmp/data bs=1048576 count=128 2>/dev/null && serve_network || exit 1
memory=256
disks=/tmp/data
cpus=$CPUS
line="quiet console=ttyS0 settle=10 count=$COUNT"
round=0
while [ $round -lt "$ROUNDS" ]; do
	round=$((round + 1))
	for arm in outrider-no-detector outrider-drivers outrider-drivers-locks; do
		console=$LAB_OUT/$arm-$round.console
		case $arm in
		outrider-no-detector) set -- ;;
		*) set -- --seed "$round" --json "$LAB_OUT/$arm-$round.json" ;;
		esac
		on "$arm" "$@" </dev/null >"$LAB_OUT/$arm-$round.said" 2>&1 || { tail -n 5 "$LAB_OUT/$arm-$round.said" "$console"; exit 1; }
		grep -a -q '^bench: end' "$console" || { tail -n 5 "$console"; exit 1; }
		grep -a -o '^bench: .*/s [0-9.]*' "$console" | sed "s/^bench:/$arm/" >>"$LAB_OUT/measured"
	done
done
