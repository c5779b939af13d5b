# SPDX-License-Identifier: GPL-2.0-or-later
# Three runs with --coverage: killed once the file has data; ended by a signal; ended by a signal, with weights.
cat >prefer.json <<'END'
{"schema": "outrider-prefer/1", "weight": 0.01, "functions": {"do_sys_poll": 1000, "vfs_write": 1000}}
END

# run FILE [OPTION]...: in the background; $run is its process.
run() {
	file=$1
	shift
	outrider run --kernel vmlinuz --initrd initrd.img --append "quiet cryptomgr.notests -- busy:3000 poweroff" --rate 1000 --delay 3000 --seed 5 \
		--console /tmp/console --coverage "$LAB_OUT/$file" "$@" >/tmp/said 2>&1 &
	run=$!
}

# sampled FILE: wait until there was a hit, or the run has ended.
sampled() {
	until busybox grep -q '"hits": [1-9]' "$LAB_OUT/$1"; do
		kill -0 $run || return 1
		sleep 1
	done
}

# ends SIGNAL STATUS: send the signal to the run, which must end with this status.
ends() {
	kill "-$1" $run
	wait $run
	status=$?
	[ $status = "$2" ] && return
	echo "the run ended with status $status after SIG$1"
	busybox tail -n 5 /tmp/said
	exit 1
}

run killed.json
sampled killed.json || exit 1
ends KILL 137
run ended.json --json "$LAB_OUT/races.json"
sampled ended.json || exit 1
ends INT 0
run preferred.json --json "$LAB_OUT/preferred-races.json" --prefer prefer.json
sampled preferred.json || exit 1
ends TERM 0
