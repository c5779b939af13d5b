# SPDX-License-Identifier: GPL-2.0-or-later
# In a lab: a bug's guest with outrider, once for each of SEEDS. SECONDS_EACH: of sampling after the trigger is ready. UNTIL_FOUND: 1 ends a run
# with the bug's race. FIRST, SECOND, LOCKS: what found.awk wants. OPTIONS: of outrider run, a word each.
# With --no-detect among them outrider takes neither --seed nor --json.
# What comes back for each seed: SEED.json, SEED.out, SEED.err, SEED.console, SEED.status, and SEED.times with the lab's uptime at the
# trigger's "ready" and at the end; SEED.found, if the bug was seen, has the uptime then.
. ./told.sh

uptime_now() {
	cut -d' ' -f1 /proc/uptime
}

over() {
	! kill -0 "$pid" 2>/dev/null
}

said_ready() {
	grep -a -q -s "trigger: " "$LAB_OUT/$seed.console" || over
}

# enough: the time is over, the run is, or the bug was seen and no more is asked for.
enough() {
	over || { [ "$UNTIL_FOUND" = 1 ] && [ -s "$LAB_OUT/$seed.found" ]; } || [ "$(uptime_now | cut -d. -f1)" -ge "$end" ]
}

case $OPTIONS in *--no-detect*) detects= ;; *) detects=1 ;; esac

for seed in $SEEDS; do
	mkfifo "output.$seed"
	busybox awk -v "first=$FIRST" -v "second=$SECOND" -v "locks=$LOCKS" -v "found=$LAB_OUT/$seed.found" -f found.awk <"output.$seed" >"$LAB_OUT/$seed.out" &
	reader=$!
	# The options are words.
	# shellcheck disable=SC2086
	outrider run --kernel vmlinuz --initrd initrd.img --console "$LAB_OUT/$seed.console" --append "quiet $APPEND" \
		${detects:+--seed "$seed" --json "$LAB_OUT/$seed.json"} $OPTIONS >"output.$seed" 2>"$LAB_OUT/$seed.err" &
	pid=$!
	until_true said_ready
	ready=$(uptime_now)
	end=$((${ready%.*} + SECONDS_EACH))
	until_true enough
	kill -INT $pid 2>/dev/null
	status=0
	wait $pid || status=$?
	wait $reader
	echo "$status" >"$LAB_OUT/$seed.status"
	echo "$ready $(uptime_now)" >"$LAB_OUT/$seed.times"
	echo "seed $seed: status $status, found at $(cat "$LAB_OUT/$seed.found" 2>/dev/null || echo never), ready at $ready"
done
