# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the integration tests of attaching, after lib.sh: a libvirtd, if none runs, and one domain with the test guest.

. tests/integration/told.sh
enough_awk=tests/ground-truth/enough.awk
expected=$work/expected
tests/ground-truth/expected >"$expected"

domain=outrider-test-$$
uri=qemu:///system
folder=/var/tmp/$domain # QEMU runs as another user, who must get there
started=
outrider=$build/outrider

# There may be no domain, when a test has failed before it made one.
clean_up() {
	virsh -q -c $uri destroy "$domain" >/dev/null 2>&1 || true
	virsh -q -c $uri undefine "$domain" >/dev/null 2>&1 || true
	[ -z "$started" ] || stop_daemons "$folder"
	rm -rf "$folder"
}

# stop_daemons FOLDER: those whose process numbers are there and that run. Waits, or the next test would take one for running that is about to
# end.
stop_daemons() {
	for daemon in libvirtd virtlogd; do
		pid=$(cat "$1/$daemon.pid" 2>/dev/null) || continue
		kill "$pid" 2>/dev/null && until_true test ! -e "/proc/$pid" || true
	done
}

# A shell that a signal ends does not run its EXIT trap, and a domain would be left running.
trap 'exit 130' INT
trap 'exit 143' TERM

# There is one libvirtd, which this test restarts: other tests of this kind wait. What a test that was killed left behind is taken away.
alone_with_libvirtd() {
	exec 9>/var/tmp/outrider-test.lock
	flock 9
	for left in /var/tmp/outrider-test-*/; do
		[ -d "$left" ] || continue
		left=${left%/}
		virsh -q -c $uri destroy "${left##*/}" >/dev/null 2>&1 || true
		virsh -q -c $uri undefine "${left##*/}" >/dev/null 2>&1 || true
		stop_daemons "$left"
		rm -rf "$left"
	done
}

# serial PATH: the guest's console for QEMU's chardev "pipe": what goes to the FIFO PATH.in is its input, its output comes to the file
# PATH.console.
serial() {
	console_input "$1.in"
	console_input "$1.out"
	: >"$1.console"
	setpriv --pdeathsig KILL cat <>"$1.out" >"$1.console" &
}

# console_says TEXT: a guest that panics says nothing more, which ends the test.
console_says() {
	if grep -a -q "Kernel panic" "$console"; then
		tail -n 20 "$console" | sed 's/^/# /'
		exit 1
	fi
	grep -a -q -e "$1" "$console"
}

# enough NAME: said to the guest whose console is at $console.
enough() {
	echo "enough $1" 1<>"${console%.console}.in"
}

says() {
	grep -q -- "$1" "$work/said" || { cat "$work/said"; return 1; }
}

# monitor COMMAND: of QEMU's human monitor.
monitor() {
	virsh -q -c $uri qemu-monitor-command "$domain" --hmp "$@"
}

HANGS=300 # Seconds after which an outrider that should end by itself hangs: a hundred times what it takes.

# post_mortem PID: what each thread of the outrider does, what it has said, and the state of the guest.
post_mortem() {
	echo "# outrider hangs: after $HANGS s it has not ended; it said:"
	tail -n 6 "$work/said" | sed 's/^/#   /'
	for task in /proc/"$1"/task/*; do
		echo "#   thread $(cat "$task/comm"): in $(cat "$task/wchan"), system call $(cut -d ' ' -f 1-3 "$task/syscall"), $(cut -d ' ' -f 14-15 "$task/stat") ticks"
	done
	# Registers twice: CPUs whose RIP stays the same do not run. timeout(1) cannot call monitor().
	for command in "info status" "info chardev" "info registers -a" "info registers -a"; do
		timeout 20 virsh -q -c $uri qemu-monitor-command "$domain" --hmp "$command" 2>&1 |
			grep -e status -e outrider -e CPU# -e RIP -e CR3 -e rror | sed 's/^/#   /'
	done
}

# ends PID: waits until the outrider, which should end by itself, has ended; the status is its own. One that hangs is killed.
ends() {
	waited=0
	while kill -0 "$1" 2>/dev/null; do
		sleep 0.1
		waited=$((waited + 1))
		[ $waited = $((HANGS * 10)) ] || continue
		post_mortem "$1"
		kill -9 "$1"
	done
	wait "$1"
}

# functions_of GROUP...: the functions of these groups of cases and of the harness, for --sample: the module's code that runs. With the sites of
# the other groups, which do not run, a gdbstub needs twice the time for each case.
functions_of() {
	printf 'harness_*'
	jq -r --args '.cases[] | select(.group as $g | $ARGS.positional | index($g)) | .functions // [.sides[].function] | .[]' "$@" \
		<tests/ground-truth/manifest.json | sort -u | while read -r function; do printf ',%s' "$function"; done
}

# refused NAME TEXT ARGS...: `outrider attach ARGS` fails with status 3 and says TEXT.
refused() {
	what=$1
	text=$2
	shift 2
	status=0
	"$outrider" attach "$@" >"$work/said" 2>&1 || status=$?
	expect "refused with its own message: $what" test "$status" = 3
	expect "  ... which says '$text'" says "$text"
}

# test_guest: its kernel and initrd, where QEMU can read them.
test_guest() {
	alone_with_libvirtd
	images
	mkdir -p "$folder"
	chmod 777 "$folder"
	cp "$work/vmlinuz" "$work/initrd.img" "$folder"
	chmod a+r "$folder"/*
}

libvirtd_answers() {
	virsh -q -c $uri list >/dev/null 2>&1
}

start_libvirtd() {
	libvirtd -d -p "$folder/libvirtd.pid" 9>&-
	until_true libvirtd_answers
}

# need_libvirtd: start one if none answers.
need_libvirtd() {
	if ! libvirtd_answers; then
		started=yes
		virtlogd -d -p "$folder/virtlogd.pid" 9>&-
		start_libvirtd
	fi
}

# describe WORKLOADS: the description of the domain, with its console at the FIFO $folder/domain, in the file $folder/domain.xml.
describe() {
	cat >"$folder/domain.xml" <<XML
<domain type='qemu'>
  <name>$domain</name>
  <memory unit='MiB'>512</memory>
  <vcpu>2</vcpu>
  <os>
    <type arch='x86_64' machine='pc'>hvm</type>
    <kernel>$folder/vmlinuz</kernel>
    <initrd>$folder/initrd.img</initrd>
    <cmdline>console=ttyS0 quiet cryptomgr.notests nokaslr no_timer_check -- $*</cmdline>
  </os>
  <features><acpi/><apic/></features>
  <cpu mode='maximum'/>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <serial type='pipe'><source path='$folder/domain'/></serial>
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
  </devices>
</domain>
XML
}

# define WORKLOADS: the domain, not started; its console is at $console.
define() {
	serial "$folder/domain"
	console=$folder/domain.console
	describe "$@"
	virsh -q -c $uri define "$folder/domain.xml" >/dev/null
}

state() {
	virsh -q -c "${1:-$uri}" domstate "$domain" | tr -d '\n'
}
