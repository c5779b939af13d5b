# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests of campaigns with real guests, after lib.sh: guests of two kernels with the ground-truth module, and a campaign file that
# runs them in labs. WORKLOADS (1 to 3, default 1) and SEEDS (default 1) make the matrix larger, JOBS (default 2) are runs at once.

workloads=${WORKLOADS:-1}
seeds=${SEEDS:-1}
runs=$((2 * workloads * seeds))
store=$work/store.db
case_limit=120 # seconds until a case is found; it takes a few

# ---- guests ----

# guest NAME MODULE: the initial RAM disk of a guest with the agent and this build of the ground-truth module.
guest() {
	strip --strip-debug -o "$work/$1.ko" "$2"
	vm-images/build-initramfs -o "$work/initrd-$1.img" --init "$build/guest-agent" --file "$work/$1.ko:/outrider_gt.ko"
}

cp "$(vm-images/fetch kernel --print vmlinuz)" "$work/vmlinuz-6.1"
cp "$(vm-images/fetch kernel --suite bookworm-backports --print vmlinuz)" "$work/vmlinuz-6.12"
guest 6.1 "$build/outrider_gt.ko"
tests/ground-truth/build-module "$(vm-images/fetch kernel-headers --suite bookworm-backports --print tree)" "$work/module-6.12.ko"
guest 6.12 "$work/module-6.12.ko"

# ---- the campaign ----

kvm=$(fast_kvm)
tests/ground-truth/expected >"$work/expected"
# With a file `strike`, the next run takes it, and `struck` has the run's status and folder then (campaign_kills.py).
cat >"$work/emulator" <<-END
	#!/bin/sh
	export OUTRIDER_KVM=$kvm OUTRIDER_BUILD=$(realpath "$build")
	export LAB_FILES='$PWD/tests/integration/in-lab/campaign.sh $PWD/tests/integration/in-lab/hung.sh $PWD/tests/integration/told.sh $PWD/tests/ground-truth/enough.awk $(realpath "$work")/expected'
	export LAB_BEFORE='env SILENCE=$((4 * case_limit)) sh campaign.sh'
	if mv $(realpath "$work")/strike $(realpath "$work")/taken 2>/dev/null; then
		export LAB_FILES="\$LAB_FILES $(realpath "$work")/taken:strike"
		status=0
		$PWD/tests/lab/outrider "\$@" || status=\$?
		while [ "\$1" != --json ]; do shift; done
		echo "\$status \$(dirname "\$2")" >$(realpath "$work")/struck.next
		mv $(realpath "$work")/struck.next $(realpath "$work")/struck
		exit \$status
	fi
	exec $PWD/tests/lab/outrider "\$@"
END
chmod +x "$work/emulator"

# workload NAME CASE...: each case until it is found, and a second more.
workload() {
	echo "<workload name='$1'><cmdline>quiet cryptomgr.notests --"
	shift
	printf " gtcase:%s:1:$case_limit" "$@"
	echo " dmesg poweroff</cmdline></workload>"
}

# campaign CASE...: the campaign file, whose first workload has these cases.
campaign() {
	{
		cat <<-END
			<campaign name='ground-truth'>
			  <emulator>emulator</emulator>
			  <jobs>${JOBS:-2}</jobs>
			  <learn state='off'/>
			  <failure on='finding limit'/>
			  <limits><time unit='min'>50</time></limits>
			  <machine><vcpu>2</vcpu><memory unit='MiB'>512</memory></machine>
			  <kernels>
			    <os name='6.1'><kernel>vmlinuz-6.1</kernel></os>
			    <os name='6.12'><kernel>vmlinuz-6.12</kernel></os>
			  </kernels>
			  <images><image name='agent'><initrd>initrd-{kernel}.img</initrd></image></images>
			  <workloads>
		END
		workload first "$@"
		[ "$workloads" -lt 2 ] || workload second flagbits halflock
		[ "$workloads" -lt 3 ] || workload third nlink statcount
		cat <<-END
			  </workloads>
			  <samplings>
			    <sampling name='module'><module>outrider_gt</module><rate>1000</rate><delay unit='ms'>2</delay><duration unit='min'>45</duration></sampling>
			  </samplings>
			  <seeds from='2' count='$seeds'/>
			</campaign>
		END
	} >"$work/campaign.xml"
}

run() {
	"$build/outrider" campaign run --overcommit --store "$store" "$@" "$work/campaign.xml"
}

sqlite() {
	python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row)' "$store" "$1"
}

# ---- kills ----

kills() {
	python3 tests/integration/campaign_kills.py "$@"
}

# killed SEED KINDS: a round in $store, or more of them, until all these kills are done.
killed() {
	kills kill --seed "$1" --kinds "$2" --work "$work" "$store" "$build/outrider" campaign run --overcommit --store "$store" "$work/campaign.xml"
}

# expect_same STORE ROUND OTHER FIRST: the rounds of OTHER from FIRST on have done what the round of STORE has.
expect_same() {
	expect "the same runs are done, and ended alike" kills same runs "$@"
	expect "each has sampled the same sites, as far as it came" kills same sites "$@"
}

# expect_kept STORE: nothing is lost, by what the runs themselves have written.
expect_kept() {
	expect "the store has each race of each report, of killed runs too" kills kept reports "$1"
	expect "the store has each race that a run has told of" kills kept output "$1"
	expect "the store's file is whole" kills kept file "$1"
}
