# SPDX-License-Identifier: GPL-2.0-or-later
# A module whose few sites are run all the time, sampled for a share of the CPUs' time: $LAB_OUT/overhead.json, .said, .notes.
timeout -k 20 900 outrider run --kernel vmlinuz --initrd initrd.img --append "quiet cryptomgr.notests -- gtcase:rwrace:600" --module outrider_gt \
	--overhead "$PERCENT" --duration 20s --stats-every 2s --seed 1 --json "$LAB_OUT/overhead.json" --console "$LAB_OUT/console" \
	>"$LAB_OUT/overhead.said" 2>"$LAB_OUT/overhead.notes"
