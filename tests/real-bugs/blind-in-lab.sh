# SPDX-License-Identifier: GPL-2.0-or-later
# In a lab: a bug's guest without a detector, RUNS times. SECONDS_EACH: of the trigger's repetitions. APPEND, MEMORY: of the guest.
# What comes back for each run N: N.console, and N.seconds with the seconds from the trigger's "ready" to the kernel's first complaint, or "never".
. ./told.sh

uptime_now() {
	cut -d' ' -f1 /proc/uptime
}

over() {
	! kill -0 "$pid" 2>/dev/null
}

said_ready() {
	grep -a -q -s "trigger: " "$LAB_OUT/$run.console" || over
}

complains() {
	grep -a -q -E "BUG:|WARNING:|general protection|Oops|panic|refcount_t:|list_(add|del) corruption" "$LAB_OUT/$run.console"
}

enough() {
	complains || over || [ "$(uptime_now | cut -d. -f1)" -ge "$end" ]
}

for run in $(busybox seq "$RUNS"); do
	outrider run --kernel vmlinuz --initrd initrd.img --console "$LAB_OUT/$run.console" --append "$APPEND" --memory "$MEMORY" --no-detect \
		>/dev/null 2>"$LAB_OUT/$run.err" &
	pid=$!
	until_true said_ready
	ready=$(uptime_now)
	end=$((${ready%.*} + SECONDS_EACH))
	until_true enough
	if complains; then
		echo "$ready $(uptime_now)" | busybox awk '{ printf "%.0f\n", $2 - $1 }'
	else
		echo never
	fi >"$LAB_OUT/$run.seconds"
	kill -INT $pid 2>/dev/null
	wait $pid || :
	echo "run $run: $(cat "$LAB_OUT/$run.seconds")"
done
