# SPDX-License-Identifier: GPL-2.0-or-later
# The same WORK twice, sampled for SECONDS_EACH: blindly with BLIND, then with --aim at all races that the blind run found. OPTIONS: more of both.
# The options are words.
# shellcheck disable=SC2086
sampled() {
	file=$1
	shift
	timeout -k 20 $((SECONDS_EACH + 300)) outrider run --kernel vmlinuz --initrd initrd.img --append "quiet -- $WORK poweroff" \
		--rate 1000 --delay 3000 --duration "${SECONDS_EACH}s" --seed "$SEED" --json "$LAB_OUT/$file.json" \
		--console "$LAB_OUT/$file.console" ${OPTIONS:-} "$@"
}

sampled blind ${BLIND:-} && sampled aimed --aim "$LAB_OUT/blind.json"
