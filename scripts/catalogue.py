#!/usr/bin/env python3
"""catalogue.py KEEL LIST.json [VENDOR...] - compares the models that keel knows with a downloaded list.

KEEL is the program. LIST.json has an object a vendor, by the names that keel uses; one that keel
does not have, and members that are not named here, are not looked at:

    {"anthropic": {"models": {"claude-opus-5-5": {
        "limit":  {"context": 1000000, "output": 128000},
        "cost":   {"input": 4, "output": 20, "cache_read": 0.2, "cache_write": 5},
        "status": "deprecated"
    }}}}

Limits are tokens, costs dollars a million tokens, and every member may be missing: what a side does
not tell is not compared. The public list at https://models.dev/api.json has this form ("google"
there is keel's "gemini"). A line is printed for each difference. Exit status: 0 when there are none,
1 when there are, 2 when something cannot be read."""
import json
import subprocess
import sys

NAMES = {"google": "gemini"}
NUMBERS = (("limit", "context", "contextWindow"), ("limit", "output", "maxOutput"))
PRICES = (("input", "input"), ("output", "output"), ("cache_read", "cacheRead"),
          ("cache_write", "cacheWrite"))
MICROCENTS = 100_000_000  # a dollar
GONE = ("deprecated", "retired")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def known_models(keel):
    text = subprocess.run([keel, "models", "--all", "--json"], check=True, capture_output=True,
                          text=True).stdout
    return {v["vendor"]: {m["id"]: m for m in v["models"]} for v in json.loads(text)["vendors"]}


def listed_models(path):
    with open(path, encoding="utf-8") as file:
        vendors = json.load(file)
    return {NAMES.get(name, name): vendor["models"] for name, vendor in vendors.items()
            if isinstance(vendor, dict) and isinstance(vendor.get("models"), dict)}


def differences(known, listed):
    """What keel says of a model, and what the list says."""
    for group, theirs, ours in NUMBERS:
        value = (listed.get(group) or {}).get(theirs)
        if is_number(value) and known.get(ours) and known[ours] != value:
            yield ours, known[ours], value
    for theirs, ours in PRICES:
        value = (listed.get("cost") or {}).get(theirs)
        price = (known.get("microcentsPerMillion") or {}).get(ours)
        if is_number(value) and price is not None and round(value * MICROCENTS) != price:
            yield ours, price / MICROCENTS, value
    is_gone = known.get("lifecycle") in GONE
    if "status" in listed and is_gone != (listed["status"] in GONE):
        yield "lifecycle", known.get("lifecycle"), listed["status"]


def compare(vendor, known, listed):
    for id in known:
        if id not in listed:
            if known[id].get("lifecycle") not in GONE:
                yield f"{vendor}/{id}: not in the list"
            continue
        for name, ours, theirs in differences(known[id], listed[id]):
            yield f"{vendor}/{id}: {name} is {ours} here and {theirs} in the list"
    for id in listed:
        if id not in known and listed[id].get("status") not in GONE:
            yield f"{vendor}/{id}: only in the list"


def main(keel, path, *vendors):
    try:
        known, listed = known_models(keel), listed_models(path)
    except (OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
        print(f"catalogue.py: {error}", file=sys.stderr)
        return 2
    lines = [line for vendor in known if known[vendor] and vendor in listed
             and (not vendors or vendor in vendors)
             for line in compare(vendor, known[vendor], listed[vendor])]
    print("\n".join(lines) if lines else "no difference")
    return 1 if lines else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
