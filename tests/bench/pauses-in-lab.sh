# SPDX-License-Identifier: GPL-2.0-or-later
# For bench/pauses: machines of SIZES are copied FORKS times, with huge pages and without, ROUNDS times.
status=0
for round in $(seq "$ROUNDS"); do
	for size in $SIZES; do
		for huge in madvise never; do
			echo $huge >/sys/kernel/mm/transparent_hugepage/enabled
			echo "round $round, $size MiB, huge pages: $huge"
			snapshots fork vmlinuz "initrd-$size.img" "quiet -- sh:/work dmesg poweroff" "$size" "$FORKS" 1 \
				2>"$LAB_OUT/$round-$size-$huge.log" || status=1
		done
	done
done
exit $status
