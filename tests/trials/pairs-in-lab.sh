# SPDX-License-Identifier: GPL-2.0-or-later
# In a lab: outrider explore of each pair of PAIRS, with OPTIONS. What comes back for each pair: PAIR.json, PAIR.err.
side() {
	echo "echo >/tmp/go.$1; read s </tmp/done.$1; exit \$s"
}

for pair in $PAIRS; do
	case $pair in
	stress-*)
		# stress-A-B: two stressors of stress-ng, with an operation each.
		a=${pair#stress-} b=${a#*-} a=${a%-*}
		stressor="exec stress-ng --temp-path /tmp --quiet --no-rand-seed"
		set -- --prepare "mount -t tmpfs tmp /tmp; ip link set lo up" --a "$stressor --$a 1 --$a-ops 1" --b "$stressor --$b 1 --$b-ops 1" --steps 500000 \
			--record-time 10m --trial-time 5m
		;;
	*)
		set -- --prepare "export PAIR=$pair; . /prepare" --a "$(side 0)" --b "$(side 1)"
		;;
	esac
	# The options are words.
	# shellcheck disable=SC2086
	outrider explore --kernel vmlinuz --initrd initrd.img --memory 256M --keep-going "$@" --format json $OPTIONS >"$LAB_OUT/$pair.json" 2>"$LAB_OUT/$pair.err" || :
	echo "$pair: $(busybox grep -c ": trial" "$LAB_OUT/$pair.err") trials, findings:"
	busybox grep -E ": trial .*(complaint|hang|killed|status|leak|freed-twice)," "$LAB_OUT/$pair.err" || :
done
