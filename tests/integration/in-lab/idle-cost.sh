# SPDX-License-Identifier: GPL-2.0-or-later
# A CPU-bound loop in the guest without the detector, with it but nothing armed, and sampled: in turns, so that what else the host does
# falls on all three. $LAB_OUT/rates gets "KIND ITERATIONS_PER_SECOND" lines.
measure() {
	kind=$1
	shift
	outrider run --kernel vmlinuz --initrd initrd.img --append "quiet -- sleep:1 loop:3" --console console.log "$@" >/dev/null || exit 1
	sed -n "s/.*loop: cpus=[0-9]* iterations_per_second=\([0-9]*\).*/$kind \1/p" console.log >>"$LAB_OUT/rates"
}

for round in $ROUNDS; do
	measure without --no-detect
	measure unarmed --module never_loaded
	measure sampled --seed "$round"
done
