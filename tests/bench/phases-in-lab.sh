# SPDX-License-Identifier: GPL-2.0-or-later
# ROUNDS runs of SECONDS_EACH for each of VCPUS, in turn, each with its report.
status=0
round=0
while [ $round -lt "$ROUNDS" ]; do
	round=$((round + 1))
	for cpus in $VCPUS; do
		timeout -k 20 $((SECONDS_EACH + 400)) outrider run --kernel vmlinuz --initrd initrd.img --append "quiet -- $LOAD" --cpus "$cpus" --memory 768 \
			--sample "$SAMPLE" --rate 1000 --duration "${SECONDS_EACH}s" --seed $round --json "$LAB_OUT/$cpus-$round.json" \
			--console "$LAB_OUT/$cpus-$round.console" >"$LAB_OUT/$cpus-$round.said" 2>&1 || { status=1; tail -n 3 "$LAB_OUT/$cpus-$round.said"; }
	done
done
exit $status
