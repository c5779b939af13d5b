# SPDX-License-Identifier: GPL-2.0-or-later
# For each of LOADS and each of PERCENTS one run with that --overhead, and its report.
status=0
for load in $LOADS; do
	for percent in $PERCENTS; do
		timeout -k 20 $((SECONDS_EACH + 300)) outrider run --kernel vmlinuz --initrd initrd.img --append "quiet -- $load" --cpus "$CPUS" \
			--sample "$SAMPLE" --overhead "$percent" --duration "${SECONDS_EACH}s" --seed "$SEED" --stats-every 5s \
			--json "$LAB_OUT/$load-$percent.json" --console "$LAB_OUT/$load-$percent.console" >"$LAB_OUT/$load-$percent.said" 2>&1 || status=1
	done
done
exit $status
