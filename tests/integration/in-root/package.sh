#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Run in a throw-away Debian root with /package.deb in it: install, use, and remove the package. Prints TAP lines.
set -eu
export DEBIAN_FRONTEND=noninteractive HOME=/root

# ours WHAT COMMAND...: one TAP line.
ours() {
	what=$1
	shift
	if "$@" >/var/log/said 2>&1; then echo "ok 1 - $what"; else echo "not ok 1 - $what: $(tail -n 3 /var/log/said | tr '\n' ' ')"; fi
}

# Files of the package system itself say what is installed, and logs grow.
all_files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /var/log -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg \) -prune \
		-o -print | LC_ALL=C sort
}

# The host has no KVM here, which doctor must say: status 3 and one line with what to do.
doctor() {
	status=0
	outrider doctor >/var/log/doctor || status=$?
	[ "$status" = 3 ]
}

# doctor names the command that starts a lab, and the package has it and its parts.
lab() {
	command=$(sed -n 's/^outrider can run in a lab, .*: \(.*\) doctor$/\1/p' /var/log/doctor)
	[ "$command" = /usr/bin/outrider-lab ] && "$command" --help && /usr/lib/outrider/lab/run --help && /usr/lib/outrider/fetch --help
}

initramfs() {
	outrider-build-initramfs -o /image --no-busybox --init /usr/lib/outrider/guest-agent && [ -s /image ] &&
		outrider-build-rootdisk --help >/image && [ -x /usr/lib/outrider/rootdisk/init ]
}

pages() {
	for page in /usr/share/man/man1/outrider*.1.gz; do gzip -t "$page" || return 1; done
	[ -e /usr/share/man/man1/outrider.1.gz ] && [ -e /usr/share/man/man1/outrider-run.1.gz ]
}

# bash takes its file; zsh is not there to take its own.
completion() {
	bash -c '. /usr/share/bash-completion/completions/outrider && complete -p outrider' && [ -s /usr/share/zsh/vendor-completions/_outrider ]
}

documents() {
	cd /usr/share/doc/outrider && ls README.Debian copyright changelog.gz README.md tutorial.md limits.md reading-a-report.md report-format.md &&
		[ -s /usr/share/outrider/report.schema.json ]
}

# Install what the package depends on by itself, so that what is there before the package and after it can be compared.
depends=$(dpkg-deb -f /package.deb Depends | sed 's/([^)]*)//g; s/:any//g; s/,/ /g')
# shellcheck disable=SC2086
ours "what the package depends on can be had" apt-get install -y --no-install-recommends $depends
apt-get clean
all_files >/var/log/before
ours "the package installs" apt-get install -y --no-install-recommends /package.deb
ours "outrider says its version" outrider --version
ours "doctor runs" doctor
ours "doctor names a lab that is there" lab
ours "the image builder and the agent make an initial RAM disk" initramfs
ours "there is a manual page for each part" pages
ours "bash and zsh can complete" completion
ours "the documents are there" documents
rm -f /image
ours "the package goes" apt-get purge -y outrider
rm -rf "$HOME/.cache"
all_files >/var/log/after
ours "nothing of it stays" cmp /var/log/before /var/log/after
diff /var/log/before /var/log/after || true
