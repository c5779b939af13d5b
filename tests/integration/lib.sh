# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the integration tests: images, a lab, and TAP lines ("ok 1 - name"), which tests/check counts.
# OUTRIDER_BUILD: what `make` built (default build). OUTRIDER_KVM: native or amd instead of what tests/lab/pick finds.
set -eu

cd "$(dirname "$0")/../.."
build=${OUTRIDER_BUILD:-build}
name=$(basename "$0")
work=$build/integration/$name
rm -rf "$work"
mkdir -p "$work"

# Guests boot slowly beside other tests, which have limits of their own.
export OUTRIDER_WAIT_KERNEL=2h

# The kernel that images() takes: of this suite of Debian, or the machine's own if it is empty. The module that was built for this kernel.
suite=
module=$build/outrider_gt.ko

count=0
failed=0

# verdict STATUS NAME: one TAP line.
verdict() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		failed=1
	fi
}

# expect NAME COMMAND...: passes when the command does.
expect() {
	what=$1
	shift
	if "$@"; then verdict 0 "$what"; else verdict 1 "$what"; fi
}

# finish: the script's exit status.
finish() {
	echo "1..$count"
	exit "$failed"
}

fast_kvm() {
	tests/lab/pick --outrider "$build/outrider"
}

# images [MODULE]...: $work/vmlinuz and $work/initrd.img, the stock kernel and a guest with the agent and the ground-truth module, and
# with these modules of the kernel, which the agent's workload "modules" loads.
images() {
	cp "$(vm-images/fetch kernel ${suite:+--suite "$suite"} --print vmlinuz)" "$work/vmlinuz"
	cp "$module" "$work/outrider_gt.ko"
	strip --strip-debug "$work/outrider_gt.ko"
	[ $# = 0 ] || set -- --kernel-dir "$(vm-images/fetch kernel ${suite:+--suite "$suite"} --print folder)" $(printf ' --module %s' "$@")
	vm-images/build-initramfs -o "$work/initrd.img" --init "$build/guest-agent" --file "$work/outrider_gt.ko:/outrider_gt.ko" "$@"
}

# in_lab KVM SECONDS SCRIPT [OPTION]...: run tests/integration/in-lab/SCRIPT in a lab; its files come to $work/KVM, its output to
# $work/KVM.log. The status is the script's. SECONDS are a limit many times what it ever takes; OPTION is of tests/lab/run.
in_lab() {
	kvm=$1
	seconds=$2
	script=$3
	shift 3
	tests/ground-truth/expected >"$work/expected"
	set -- --file "tests/integration/in-lab/$script" --file tests/integration/in-lab/hung.sh --file tests/integration/in-lab/watched.sh \
		--file tests/integration/told.sh --file tests/integration/states.sh --file tests/ground-truth/enough.awk --file "$work/expected" "$@"
	lab_status=0
	run_lab "$@" || lab_status=$?
	# 125: not the script failed but the emulator or the lab host's own kernel, which happens (docs/labs.md). Once more, and no more.
	if [ $lab_status = 125 ] || guest_died; then
		mv "$work/$kvm.log" "$work/$kvm.died.log"
		[ ! -e "$work/$kvm.console" ] || mv "$work/$kvm.console" "$work/$kvm.died.console"
		rm -rf "${work:?}/$kvm"
		echo "# the $kvm lab, or a guest in it, died ($work/$kvm.died.log): once more"
		sed -n '/^the guest hangs:/,$ s/^/# /p' "$work/$kvm.died.log"
		lab_status=0
		run_lab "$@" || lab_status=$?
	fi
	[ $lab_status = 0 ] || tail -n 6 "$work/$kvm.log" | sed 's/^/# /'
	return $lab_status
}

# A triple fault or a hang in the lab with QEMU, where one guest in some hundreds ends so with no detector in it too (docs/labs.md).
guest_died() {
	[ "$kvm" = amd ] &&
		grep -a -q -s -e "the guest died: .*triple fault" -e "^the guest hangs:" "$work/$kvm.log" "$work/$kvm/attempts"
}

# run_lab ARGS...: one try of in_lab.
run_lab() {
	tests/lab/run --kvm "$kvm" --timeout "$seconds" --bin "$build/outrider" --file "$work/vmlinuz" --file "$work/initrd.img" \
		--out "$work/$kvm" --console "$work/$kvm.console" "$@" -- sh watched.sh "$script" >"$work/$kvm.log" 2>&1
}
