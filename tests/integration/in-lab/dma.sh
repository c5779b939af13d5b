# SPDX-License-Identifier: GPL-2.0-or-later
# Races with a disk and an entropy device in one boot, sampling in the module and in the stock driver's rings: the racy cases until they
# are found and for a second more, then each control for CONTROL_SECONDS. SEED as given.
. ./told.sh

truncate -s 8M scratch.img
console_input tell
controls=
for control in dmareadwait dmawritewait dmarngwait dmarings dmarngring; do
	controls="$controls gtcase:$control:$CONTROL_SECONDS"
done
told tell timeout -k 20 "$RUN_LIMIT" outrider run --kernel vmlinuz --initrd initrd.img --disk scratch.img,overlay --rng \
	--append "quiet -- modules gt:dma:1:$CASE_LIMIT$controls dmesg poweroff" --sample 'gt_*,virtqueue_*,vring_*' \
	--rate 1000 --delay 2000 --seed "$SEED" --json "$LAB_OUT/races.json" --console "$LAB_OUT/console.log"
