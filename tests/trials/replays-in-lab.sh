# SPDX-License-Identifier: GPL-2.0-or-later
# The options are words.
# shellcheck disable=SC2086
exec outrider run --kernel vmlinuz --initrd initrd.img --module outrider_gt --rate 1000 --delay 3000 --seed "$SEED" --replay \
	--append "quiet -- $WORK dmesg poweroff" --json "$LAB_OUT/races.json" --console "$LAB_OUT/console" $OPTIONS
