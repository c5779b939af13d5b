# SPDX-License-Identifier: GPL-2.0-or-later
# One guest of tests/bench/steered for each of BUILDS, in turn: it runs the workloads WORDS. Files: BUILD.json, BUILD.console, BUILD.said.
. ./told.sh
status=0

# Sampling has begun when its third line says so; before, the first points are being armed.
ready() {
	kill -0 $guest 2>/dev/null || return 0
	grep -q -a 'wait:600: start' "$out.console" && [ "$(grep -c 's sampled: ' "$out.said")" -ge 3 ]
}

for name in $BUILDS; do
	out=$LAB_OUT/$name
	: >"$out.console"
	: >"$out.said"
	console_input input
	timeout -k 20 1200 "./outrider-$name" run --kernel vmlinuz --initrd initrd.img --append "quiet printk.time=1 -- wait:600 $WORDS" --cpus 2 \
		--overhead 20 --seed "$SEED" --stats-every 5s --json "$out.json" --console "$out.console" >"$out.said" 2>&1 <>input &
	guest=$!
	until_true ready
	echo "enough wait" >input
	wait $guest || { status=1; tail -n 3 "$out.said"; }
done
exit $status
