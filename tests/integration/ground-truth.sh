# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the integration tests that run the ground truth in a lab, after lib.sh.
manifest=tests/ground-truth/manifest.json

# named FOLDER [OPTION]...: the run's races with the names that the module's own debug information gives them, after the run and outside of the
# lab. The options are of tests/ground-truth/check.
named() {
	folder=$1
	shift
	"$build/outrider" report --symbols "$module" --format json "$folder/races.json" >"$folder/named.json" &&
		tests/ground-truth/check --manifest $manifest --races "$folder/named.json" --names "$@"
}

# judged FOLDER [OPTION]...: and the verdicts on them, with those names, without, and with the module's source too.
judged() {
	folder=$1
	shift
	tests/ground-truth/check --manifest $manifest --races "$folder/named.json" --verdicts "$@" &&
		"$build/outrider" report --format json "$folder/races.json" >"$folder/judged.json" &&
		tests/ground-truth/check --manifest $manifest --races "$folder/judged.json" --verdicts "$@" &&
		"$build/outrider" report --symbols "$module" --sources . --format json "$folder/races.json" >"$folder/sourced.json" &&
		tests/ground-truth/check --manifest $manifest --races "$folder/sourced.json" --verdicts --sources "$@"
}

# unharmed FOLDER: the guest's kernel log, which the guest printed last, is clean. What it printed instead is shown.
unharmed() {
	grep -a -q "dmesg: .*trouble=0" "$1/console.log" || {
		tail -n 6 "$1/console.log"
		return 1
	}
}

# as_in_manifest NAME FOLDER [OPTION]...: what the manifest says of the run's races, and the guest's kernel log. The options are of
# tests/ground-truth/check. Where $groups is set, the run had these groups of cases alone.
as_in_manifest() {
	run_name=$1
	folder=$2
	shift 2
	expect "$run_name: every case of ${groups:+the groups $groups of }the manifest as it must be" tests/ground-truth/check --manifest $manifest --races "$folder/races.json" --coverage "$folder/coverage.json" --memory "$@"
	expect "$run_name: data and lines are named as in the manifest" named "$folder" "$@"
	expect "$run_name: verdicts as in the manifest" judged "$folder" "$@"
	expect "$run_name: the guest's kernel log is clean" unharmed "$folder"
}
