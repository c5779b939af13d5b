# SPDX-License-Identifier: GPL-2.0-or-later
# One run of the stock kernel under the agent's mixed stress for each of SEEDS at each of RATES, in turn, each with its report.
status=0
for seed in $SEEDS; do
	for rate in $RATES; do
		timeout -k 20 $((SECONDS_EACH + 400)) outrider run --kernel vmlinuz --initrd initrd.img --append "quiet -- busy:$((SECONDS_EACH + 600)) poweroff" \
			--cpus "$CPUS" --rate "$rate" --delay 3000 --duration "${SECONDS_EACH}s" --seed "$seed" --json "$LAB_OUT/$rate-$seed.json" \
			--console "$LAB_OUT/$rate-$seed.console" >"$LAB_OUT/$rate-$seed.said" 2>&1 || { status=1; tail -n 3 "$LAB_OUT/$rate-$seed.said"; }
	done
done
exit $status
