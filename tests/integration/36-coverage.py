# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a file of --coverage is whole, agrees with itself and with the run's report, and shows what was preferred."""

import argparse
import json
import sys

import jsonschema


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def sites(coverage, functions=None):
    return [site for function in coverage["functions"] if functions is None or function["function"] in functions for site in function["armed"]]


def check(right, what):
    if not right:
        sys.exit(f"36-coverage.py: {what}")


def check_itself(coverage):
    totals, listed = coverage["totals"], sites(coverage)
    check(totals["sites"] == len(listed) == len({site["site"] for site in listed}), "the sites do not add up")
    check(totals["functions"] == len(coverage["functions"]), "the functions do not add up")
    for function in coverage["functions"]:
        check(len(function["armed"]) <= function["sites"], f"{function['function']} has fewer sites than were armed")
        for site in function["armed"]:
            check(site["site"].startswith(function["function"] + "+0x"), f"{site['site']} is not in {function['function']}")
            check(site["armed"] >= 1 and site.get("windows", 0) <= site.get("hits", 0), f"{site['site']}: more windows than hits")


def check_report(coverage, races):
    sampling = races["summary"]["sampling"]
    for key in "hits", "windows", "conflicts":
        check(coverage["totals"][key] == sampling[key], f"the report has another number of {key}")
        check(sum(site.get(key, 0) for site in sites(coverage)) == sampling[key], f"{key} do not add up")
    check(coverage["seed"] == races["run"]["seed"], "the report has another seed")
    if races["kernel"]:
        check(coverage["build_id"] == races["kernel"]["build_id"], "the report has another build id")
    conflicts = {site["site"] for site in sites(coverage) if "conflicts" in site}
    for race in races["races"]:
        check(conflicts & {side["site"] for side in race["sides"]}, f"neither site of race {race['id']} has a conflict")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("schema")
    parser.add_argument("coverage")
    parser.add_argument("--killed", action="store_true", help="the run was killed, so the document is not complete")
    parser.add_argument("--races", metavar="FILE", help="the run's report")
    parser.add_argument("--before", metavar="FILE", help="what a run has sampled that preferred nothing")
    parser.add_argument("--preferred", action="append", default=[], metavar="FUNCTION")
    options = parser.parse_args()
    coverage = load(options.coverage)
    jsonschema.validate(coverage, load(options.schema))
    check_itself(coverage)
    check(coverage["complete"] != options.killed, f"complete is {coverage['complete']}")
    check(sites(coverage), "nothing was armed")
    if options.races:
        check_report(coverage, load(options.races))
    if options.preferred:
        armed, before = ([sum(site["armed"] for site in sites(each, names)) for names in (None, options.preferred)]
                         for each in (coverage, load(options.before)))
        print(f"# preferred: {armed[1]} of {armed[0]} points; without: {before[1]} of {before[0]}")
        check(armed[1] / armed[0] > 10 * before[1] / before[0], "what was preferred was not chosen more often")
        check(armed[1] < armed[0], "nothing else was chosen")


main()
