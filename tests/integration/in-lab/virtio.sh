# SPDX-License-Identifier: GPL-2.0-or-later
# Guests with a disk, an entropy device and a network card: several kernels and numbers of CPUs, and one that may not use MSI-X.
# At the end two under the detector that read their disk without a pause.
# NEWEST: the suite of the newest kernel.
. ./told.sh
truncate -s 8M scratch.img

run() {
	guest=$1
	kernel=$2
	shift 2
	status=0
	timeout -k 20 1200 outrider run --kernel "vmlinuz-$kernel" --initrd "$kernel.img" --no-detect --disk scratch.img,overlay \
		--rng --net user --console "$LAB_OUT/$guest.log" "$@" </dev/null || status=$?
	echo "$guest exit $status" >>"$LAB_OUT/exits"
}

run one default --cpus 1 --append quiet
run two default --cpus 2 --append quiet
run four default --cpus 4 --append quiet
run sixteen default --cpus 16 --append quiet
run intx default --cpus 2 --append "quiet cryptomgr.notests pci=nomsi"
run old bullseye --cpus 2 --append quiet
run new bookworm-backports --cpus 2 --append quiet
run newest "$NEWEST" --cpus 2 --append quiet

# sampled: the search has begun, from which on exits are counted, and the guest waits.
sampled() {
	! kill -0 "$started" 2>/dev/null ||
		{ grep -q "[1-9][0-9]* s sampled: .* of [1-9]" "$LAB_OUT/$guest.errors" && grep -a -q "^guest: ready" "$LAB_OUT/$guest.log"; }
}

# busy NAME WORDS: a guest with these words on its command line that does nothing but read its disk, looked at once a second.
busy() {
	guest=$1
	console_input tell
	outrider run --kernel vmlinuz-default --initrd default.img --append "quiet cryptomgr.notests busy $2" --cpus 2 --rate 1 --seed 1 --verbose \
		--disk scratch.img,overlay --console "$LAB_OUT/$guest.log" --json "$LAB_OUT/$guest.json" \
		<>tell >"$LAB_OUT/$guest.output" 2>"$LAB_OUT/$guest.errors" &
	started=$!
	until_true sampled || :
	echo go 1<>tell
	status=0
	wait $started || status=$?
	[ $status = 0 ] || tail -n 5 "$LAB_OUT/$guest.errors"
	echo "$guest exit $status" >>"$LAB_OUT/exits"
}

busy busy ""
busy busy-intx "pci=nomsi"
