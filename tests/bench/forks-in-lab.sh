# SPDX-License-Identifier: GPL-2.0-or-later
# The same WORK twice, with --replay: with free runs, and without. Twice a second the script records the memory of outrider's processes: process,
# parent, the bytes that only it has, its share of all it has, all in KiB.

# note: record all present processes of outrider.
note() {
	echo "at $(cut -d' ' -f1 /proc/uptime)"
	for process in $(ls -l /proc/[0-9]*/exe 2>/dev/null | sed -n 's|.* \(/proc/[0-9]*\)/exe -> .*/outrider$|\1|p'); do
		awk -v "process=${process#/proc/}" '
			FILENAME ~ /status$/ && /^PPid:/ { parent = $2 }
			/^Private_(Dirty|Clean):/ { own += $2 }
			/^Pss:/ { share = $2 }
			END { if (parent != "" && share != "") print process, parent, own + 0, share }' "$process/status" "$process/smaps_rollup" 2>/dev/null
	done
}

# sampled NAME OPTION...: writes NAME.json and NAME.memory.
sampled() {
	name=$1
	shift
	timeout -k 20 $((SECONDS_EACH + 600)) outrider run --kernel vmlinuz --initrd initrd.img --module outrider_gt --rate 1000 --delay 3000 \
		--duration "${SECONDS_EACH}s" --seed "$SEED" --memory "${MIB}M" --append "quiet -- $WORK poweroff" --replay "$@" \
		--json "$LAB_OUT/$name.json" --console "$LAB_OUT/$name.console" &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		note >>"$LAB_OUT/$name.memory"
		sleep 0.5
	done
	wait $pid
}

sampled free && sampled short --replay-for 0
