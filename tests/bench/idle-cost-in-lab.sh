# SPDX-License-Identifier: GPL-2.0-or-later
# For bench/idle-cost: a CPU-bound loop in the guest without the detector, with it but nothing armed, and sampled: in turns, so that what else the host does
# falls on all three, from LEAST rounds on until they are settled, MOST at most. $LAB_OUT/rates gets "KIND ITERATIONS_PER_SECOND" lines.
measure() {
	kind=$1
	shift
	outrider run --kernel vmlinuz --initrd initrd.img --append "quiet -- sleep:1 loop:3" --console console.log "$@" >/dev/null || exit 1
	sed -n "s/.*loop: cpus=[0-9]* iterations_per_second=\([0-9]*\).*/$kind \1/p" console.log >>"$LAB_OUT/rates"
}

# What else the host does can only slow a run down, so a best that was reached twice is what the guest can do: the two best of each kind
# that is compared are within 3%.
settled() {
	awk '
		$2 > best[$1] { second[$1] = best[$1]; best[$1] = $2; next }
		$2 > second[$1] { second[$1] = $2 }
		END { exit !(second["without"] > 0.97 * best["without"] && second["unarmed"] > 0.97 * best["unarmed"]) }
	' "$LAB_OUT/rates"
}

round=0
until [ $round -ge "$LEAST" ] && settled || [ $round -ge "$MOST" ]; do
	round=$((round + 1))
	measure without --no-detect
	measure unarmed --module never_loaded
	measure sampled --seed "$round"
done
