# SPDX-License-Identifier: GPL-2.0-or-later
"""What a code host asks of a SARIF file beyond the standard's schema, so that results are shown, and matched from run to run.

The rules are those of GitHub's code scanning as docs.github.com has them in "SARIF support for code scanning" and in "SARIF results
exceed one or more limits", checked without GitHub. wrong(log) gives a list of sentences, one for each rule that is broken."""

import re

LEVELS = {"error", "warning", "note", "none"}
# A relative reference whose first segment has no colon, or a file URI. Both have only the characters that RFC 3986 allows.
RELATIVE = re.compile(r"(?!/)(?:[A-Za-z0-9\-._~!$&'()*+,;=@]|%[0-9A-F]{2})+(?:/(?:[A-Za-z0-9\-._~!$&'()*+,;=@:]|%[0-9A-F]{2})+)*")
ABSOLUTE = re.compile(r"file:///(?:[A-Za-z0-9\-._~!$&'()*+,;=@:/]|%[0-9A-F]{2})+")
LIMITS = {"runs": 20, "results": 25000, "rules": 25000, "locations": 10, "steps": 10000, "tags": 20, "text": 1024}


def location(where, run, at):
    physical = where.get("physicalLocation")
    if not physical:
        yield f"{at}: no physicalLocation"
        return
    artifact = physical.get("artifactLocation", {})
    uri, base = artifact.get("uri", ""), artifact.get("uriBaseId")
    if not (RELATIVE.fullmatch(uri) or ABSOLUTE.fullmatch(uri)):
        yield f"{at}: {uri!r} is no URI that can be found in a repository"
    if {".", ".."} & set(uri.split("/")):
        yield f"{at}: {uri!r} is not resolved"
    if RELATIVE.fullmatch(uri) and base not in run.get("originalUriBaseIds", {}):
        yield f"{at}: {uri!r} is relative to {base!r}, which originalUriBaseIds has not"
    region = physical.get("region", {})
    ends = [region.get(key) for key in ("startLine", "startColumn", "endLine", "endColumn")]
    if not all(isinstance(end, int) and end >= 1 for end in ends):
        yield f"{at}: the region {region} has not all four ends"
    elif (ends[0], ends[1]) >= (ends[2], ends[3]):
        yield f"{at}: the region {region} is empty"


def descriptor(rule, at):
    for key in ("shortDescription", "fullDescription", "help"):
        text = rule.get(key, {}).get("text", "")
        if not text or len(text) > LIMITS["text"]:
            yield f"{at}: {key}.text has {len(text)} characters"
    if not rule.get("help", {}).get("markdown"):
        yield f"{at}: no help.markdown"
    if rule.get("defaultConfiguration", {}).get("level") not in LEVELS:
        yield f"{at}: no level by default"
    properties = rule.get("properties", {})
    if properties.get("precision") not in {"very-high", "high", "medium", "low"}:
        yield f"{at}: no precision"
    if properties.get("problem.severity") not in {"error", "warning", "recommendation"}:
        yield f"{at}: no problem.severity"
    if not 1 <= len(properties.get("tags", [])) <= LIMITS["tags"]:
        yield f"{at}: no tags, or too many"


def steps(result, at):
    flows = [flow for code_flow in result.get("codeFlows", []) for flow in code_flow["threadFlows"]]
    if not flows:
        yield f"{at}: no code flow, and so nothing of the other access is shown"
    if any(where["message"]["text"] == "the other access" for where in result.get("relatedLocations", [])) and len(flows) != 2:
        yield f"{at}: both accesses are known, but there are {len(flows)} thread flows"
    if sum(len(flow["locations"]) for flow in flows) > LIMITS["steps"]:
        yield f"{at}: too many steps"
    for number, flow in enumerate(flows):
        for step, there in enumerate(flow["locations"]):
            yield from ((f"{at}: thread flow {number}, step {step}", there["location"]),)


def result_rules(result, run, at):
    rules = run["tool"]["driver"]["rules"]
    if result.get("level") not in LEVELS:
        yield f"{at}: no level"
    if not result.get("message", {}).get("text"):
        yield f"{at}: no message"
    index = result.get("ruleIndex", -1)
    if not 0 <= index < len(rules) or rules[index]["id"] != result.get("ruleId"):
        yield f"{at}: ruleIndex {index} is not {result.get('ruleId')}"
    if not re.fullmatch(r"[0-9a-f]+:[0-9]+", result.get("partialFingerprints", {}).get("primaryLocationLineHash", "")):
        yield f"{at}: no primaryLocationLineHash"
    if not 1 <= len(result.get("locations", [])) <= LIMITS["locations"]:
        yield f"{at}: {len(result.get('locations', []))} locations"
    for where in result.get("locations", []):
        yield from location(where, run, at)
    for where in result.get("relatedLocations", []):
        yield from location(where, run, f"{at}: related location")
        if not where.get("message", {}).get("text"):
            yield f"{at}: a related location without a message, which is not shown"
    ids = [where.get("id") for where in result.get("relatedLocations", [])]
    if len(ids) != len(set(ids)):
        yield f"{at}: the related locations {ids} have one id twice"
    for found in steps(result, at):
        if isinstance(found, str):
            yield found
            continue
        yield from location(found[1], run, found[0])
        if not found[1].get("message", {}).get("text"):
            yield f"{found[0]}: nothing to show"


def invocations(run, at):
    if not run.get("invocations"):
        yield f"{at}: nothing is said of how the tool was run"
    for invocation in run.get("invocations", []):
        if "executionSuccessful" not in invocation:
            yield f"{at}: an invocation does not say whether it succeeded"


def all_wrong(log):
    if log.get("version") != "2.1.0" or not log.get("$schema"):
        yield "no version 2.1.0, or no $schema"
    if not 1 <= len(log.get("runs", [])) <= LIMITS["runs"]:
        yield f"{len(log.get('runs', []))} runs"
    for run in log.get("runs", []):
        driver = run["tool"]["driver"]
        ids = [rule["id"] for rule in driver.get("rules", [])]
        if not driver.get("name") or not driver.get("version"):
            yield "the tool has no name or version"
        if not ids or len(ids) != len(set(ids)) or len(ids) > LIMITS["rules"]:
            yield "no rules, or one rule twice"
        for rule in driver.get("rules", []):
            yield from descriptor(rule, f"rule {rule['id']}")
        if len(run.get("results", [])) > LIMITS["results"]:
            yield "too many results"
        yield from invocations(run, "run")
        for number, result in enumerate(run.get("results", [])):
            yield from result_rules(result, run, f"result {number}")
        same = [(result["ruleId"], result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
                 result["partialFingerprints"].get("primaryLocationLineHash"))
                for result in run.get("results", []) if result["locations"][0].get("physicalLocation")]
        if len(same) != len(set(same)):
            yield "two results would be taken for one"


def wrong(log):
    return list(all_wrong(log))
