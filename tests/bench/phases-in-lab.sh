# SPDX-License-Identifier: GPL-2.0-or-later
# ROUNDS runs of SECONDS_EACH for each of VCPUS and each of BUILDS (this, other), in turn, each with its report BUILD-CPUS-ROUND.json.
status=0

# sample BUILD PROGRAM CPUS ROUND
sample() {
	name=$LAB_OUT/$1-$3-$4
	timeout -k 20 $((SECONDS_EACH + 400)) "$2" run --kernel vmlinuz --initrd initrd.img --append "quiet -- $LOAD" --cpus "$3" --memory 768 \
		--sample "$SAMPLE" --rate 1000 --duration "${SECONDS_EACH}s" --seed "$4" --json "$name.json" \
		--console "$name.console" >"$name.said" 2>&1 || { status=1; tail -n 3 "$name.said"; }
}

round=0
while [ $round -lt "$ROUNDS" ]; do
	round=$((round + 1))
	for cpus in $VCPUS; do
		for build in $BUILDS; do
			case $build in other) program=./outrider-other ;; *) program=outrider ;; esac
			sample $build $program "$cpus" $round
		done
	done
done
exit $status
