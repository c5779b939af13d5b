# SPDX-License-Identifier: GPL-2.0-or-later
# Rounds of the campaign pairs.xml, on the lab's KVM, until two have found something. A program can come too late to its access in a slow lab,
# so a round may find nothing. The numbers of the two rounds go to $LAB_OUT/found, how round N ended to $LAB_OUT/N.log, the store to
# $LAB_OUT/store, and the files of the runs to $LAB_OUT/runs, but of the scenarios only the names of those that are not empty.
ROUNDS=6
found=0
for round in $(seq 1 $ROUNDS); do
	status=0
	outrider campaign run --overcommit --store "$LAB_OUT/store" pairs.xml >"$LAB_OUT/$round.log" 2>&1 || status=$?
	echo "exit $status" >>"$LAB_OUT/$round.log"
	sed "s/^/round $round: /" "$LAB_OUT/$round.log"
	before=$found
	found=$(grep -l '"outcome": "complaint"' "$LAB_OUT"/runs/*/*/stdout.log | wc -l)
	[ "$found" = "$before" ] || echo "$round" >>"$LAB_OUT/found"
	[ "$found" -lt 2 ] || break
done
cat "$LAB_OUT"/runs/*/*/stderr.log
find "$LAB_OUT/runs" -name '*.scenario' | while read -r scenario; do
	[ ! -s "$scenario" ] || echo "$scenario" >>"$LAB_OUT/scenarios"
	rm "$scenario"
done
