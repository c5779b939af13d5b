# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the integration tests of attaching, after lib.sh: a libvirtd, if none runs, and one domain with the test guest.

domain=outrider-test-$$
uri=qemu:///system
folder=/var/tmp/$domain # QEMU runs as another user, who must get there
started=
outrider=$build/outrider

clean_up() {
	virsh -q -c $uri destroy "$domain" >/dev/null 2>&1 || true
	virsh -q -c $uri undefine "$domain" >/dev/null 2>&1 || true
	[ -z "$started" ] || for daemon in libvirtd virtlogd; do
		kill "$(cat "$folder/$daemon.pid")" 2>/dev/null || true
	done
	rm -rf "$folder"
}

# A shell that a signal ends does not run its EXIT trap, and a domain would be left running.
trap 'exit 130' INT
trap 'exit 143' TERM

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
	left=$(($1 * 5))
	shift
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.2
	done
}

says() {
	grep -q -- "$1" "$work/said" || { cat "$work/said"; return 1; }
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
	images
	mkdir -p "$folder"
	chmod 777 "$folder"
	cp "$work/vmlinuz" "$work/initrd.img" "$folder"
	chmod a+r "$folder"/*
}

start_libvirtd() {
	libvirtd -d -p "$folder/libvirtd.pid"
	wait_for 20 virsh -q -c $uri list
}

# need_libvirtd: start one if none answers.
need_libvirtd() {
	if ! virsh -q -c $uri list >/dev/null 2>&1; then
		started=yes
		virtlogd -d -p "$folder/virtlogd.pid"
		start_libvirtd
	fi
}

# define WORKLOADS: the domain, not started; its console goes to $folder/console.
define() {
	cat >"$folder/domain.xml" <<XML
<domain type='qemu'>
  <name>$domain</name>
  <memory unit='MiB'>512</memory>
  <vcpu>2</vcpu>
  <os>
    <type arch='x86_64' machine='pc'>hvm</type>
    <kernel>$folder/vmlinuz</kernel>
    <initrd>$folder/initrd.img</initrd>
    <cmdline>console=ttyS0 quiet nokaslr -- $*</cmdline>
  </os>
  <features><acpi/><apic/></features>
  <cpu mode='maximum'/>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <serial type='file'><source path='$folder/console' append='on'/></serial>
    <controller type='usb' model='none'/>
    <memballoon model='none'/>
  </devices>
</domain>
XML
	virsh -q -c $uri define "$folder/domain.xml" >/dev/null
}

state() {
	virsh -q -c "${1:-$uri}" domstate "$domain" | tr -d '\n'
}
