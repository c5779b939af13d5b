# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scripts in the labs: they find a guest that hangs, print what can be seen of it from outside, and stop its outrider.

# kvm_counts FILE: KVM's counts of all machines of this lab host.
kvm_counts() {
	(cd /sys/kernel/debug/kvm && busybox grep -a . exits halt_exits irq_exits irq_injections signal_exits io_exits mmio_exits nmi_injections) \
		>"$1" 2>&1
}

# post_mortem PID: what each thread waits for, what KVM counts within two seconds, and what the lab's kernel said last.
post_mortem() {
	[ -d /sys/kernel/debug/kvm ] || mount -t debugfs none /sys/kernel/debug
	for task in /proc/"$1"/task/*; do
		echo "thread $(cat "$task/comm"): $(busybox grep State "$task/status"), in $(cat "$task/wchan"), $(busybox awk '{print $14 + $15}' "$task/stat") ticks"
		busybox sed 's/^/    /' "$task/stack"
	done
	kvm_counts counts.before
	sleep 2
	kvm_counts counts.after
	busybox paste counts.before counts.after
	dmesg | busybox tail -n 20
}

# end_if_hung CONSOLE SECONDS FIFO: runs until the file CONSOLE has not grown for SECONDS, which are more than the guest is ever silent. Then it
# says "the guest hangs", and stops the outrider that told() started with FIFO. An outrider that is still there after 20 s is killed.
end_if_hung() {
	silent=0
	length=-1
	while [ $silent -lt "$2" ]; do
		sleep 5
		silent=$((silent + 5))
		now=$(busybox stat -c %s "$1" 2>/dev/null || echo 0)
		[ "$now" = "$length" ] || silent=0
		length=$now
	done
	echo "the guest hangs: nothing on its console for $2 s; its last lines:"
	busybox tail -n 3 "$1"
	post_mortem "$(cat "$3.pid")"
	outrider=$(cat "$3.pid")
	kill "$outrider"
	# As `timeout -k 20`: twenty seconds are many times what an outrider needs to end.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		kill -0 "$outrider" 2>/dev/null || return
		sleep 2
	done
	kill -KILL "$outrider"
}
