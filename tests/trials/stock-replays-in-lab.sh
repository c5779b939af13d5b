# SPDX-License-Identifier: GPL-2.0-or-later
# The whole kernel and its modules under mixed stress for BUSY_SECONDS, with --replay. SEED as given; OPTIONS: more of them.
# The options are words.
# shellcheck disable=SC2086
exec outrider run --kernel vmlinuz --initrd initrd.img --append "quiet -- busy:$BUSY_SECONDS dmesg poweroff" \
	--delay 3000 --seed "$SEED" --replay --json "$LAB_OUT/races.json" --console "$LAB_OUT/console.log" $OPTIONS
