# The JSON Schema of tl-check --schema against records and against tl-check: python3 schema.py PART SCHEMA RECORDS [TL-CHECK].
# Each part prints a line for what is wrong, and nothing if all is well. The last line of stderr tells how much was looked at.
import copy
import json
import subprocess
import sys
import tempfile

import jsonschema

part, schema_file, records_file = sys.argv[1:4]
schema = json.load(open(schema_file))
checker = jsonschema.Draft202012Validator(schema)
records = [json.loads(line) for line in open(records_file)]
GONE = object()


def fields_of(name):
    """The schema's fields of an object, those of its base among them."""
    definition = schema["$defs"][name]
    found = {}
    for other in definition["allOf"]:
        base = other.get("$ref", "").removeprefix("#/$defs/")
        if base and base != "any":
            found.update(fields_of(base))
    found.update(definition["properties"])
    return found


def object_of(field):
    """The object, or the array's object, that a field holds; None if it holds none."""
    for form in [field] + field.get("anyOf", []):
        reference = form.get("$ref") or form.get("items", {}).get("$ref")
        if reference:
            return reference.removeprefix("#/$defs/")
    return None


def places(value, name, path=()):
    """All objects in a record that the schema knows: the object's name and the path to it."""
    yield name, path
    for key, field in fields_of(name).items():
        inner = object_of(field)
        if inner and isinstance(value.get(key), dict):
            yield from places(value[key], inner, path + (key,))
        elif inner and isinstance(value.get(key), list):
            for i, item in enumerate(value[key]):
                yield from places(item, inner, path + (key, i))


def at(record, path):
    for step in path:
        record = record[step]
    return record


def required(name, inner):
    """The fields that must be there; some depend on the status."""
    definition = schema["$defs"][name]
    yield from definition["required"]
    for other in definition["allOf"]:
        base = other.get("$ref", "").removeprefix("#/$defs/")
        if base and base != "any":
            yield from required(base, inner)
        if "status" in other.get("if", {}).get("properties", {}):
            yield from other["then" if inner.get("status") == "ok" else "else"]["required"]


def check_valid():
    for record in records:
        for error in checker.iter_errors(record):
            print(record["type"], list(error.path), error.message[:200])


def check_known():
    """Is there a field that no row of the schema tells?"""
    for record in records:
        if record["type"] not in schema["$defs"]:
            print("the type", record["type"])
            continue
        for name, path in places(record, record["type"]):
            known = set(fields_of(name)) | {"x"} | (set() if path else {"tl", "type"})
            known |= {key + "_why" for key in known} | {key.rsplit("_", 1)[0] + "_why" for key in known if "_" in key}
            for key in set(at(record, path)) - known:
                print(name, key)


def wrong_kinds(value):
    """Values that no field can have in whose place such a value stands."""
    if isinstance(value, bool):
        return ["true", 1, []]
    if isinstance(value, str):
        return [7, True, [], {}]
    if isinstance(value, (int, float)):
        return ["7", True, [], {}]
    if isinstance(value, list):
        return ["text", 7, {}, [{}, None]]
    return ["text", 7, []]


def other_values():
    """Values that may be right or wrong, where the schema must not be stricter than tl-check."""
    return ["text", "", -1, 0, 0.5, 3, True, None, [], [1, 2], [2, 1], [-1, 1], {}, "0123456789abcdef" * 2,
            "2026-02-30T09:00:00.000Z", "2026-02-28T09:00:00.000Z"]


def changed(record, path, key, value, reason=None, text="a reason"):
    other = copy.deepcopy(record)
    inner = at(other, path)
    if value is GONE:
        del inner[key]
    else:
        inner[key] = value
    if reason:
        inner[reason] = text
    return other


def mutants():
    """(what, record, must it be refused?) What a field may be depends on its object and the status: each is tried once."""
    tried = set()
    for record in records:
        for name, path in places(record, record["type"]):
            where = "%s %s" % (record["type"], ".".join(map(str, path)))
            inner = at(record, path)
            fresh = {key: (name, str(inner.get("status")), key, value is None) for key, value in inner.items()}
            fresh = {key: place for key, place in fresh.items() if place not in tried}
            tried.update(fresh.values())
            for key in sorted(set(required(name, inner)) & set(fresh)):
                yield where + " without " + key, changed(record, path, key, GONE), True
            for key in fields_of(name):
                if key not in fresh:
                    continue
                for value in wrong_kinds(inner[key]):
                    if inner[key] is not None:
                        yield "%s %s=%s" % (where, key, json.dumps(value)), changed(record, path, key, value), True
                for value in other_values():
                    yield "%s %s=%s" % (where, key, json.dumps(value)), changed(record, path, key, value), False
                yield where + " null " + key, changed(record, path, key, None, key + "_why"), False
                for text in ("", None) if key != "energy_J" else ():  # its reason has another name
                    yield "%s null %s because of %s" % (where, key, json.dumps(text)), changed(record, path, key, None, key + "_why", text), True


def check_mutants():
    all_mutants = list(mutants())
    with tempfile.NamedTemporaryFile("w", suffix=".ndjson") as file:
        for i, (_, record, _) in enumerate(all_mutants, 1):
            print(json.dumps({**record, "mutant": i}, separators=(",", ":")), file=file)
        file.flush()
        taken = subprocess.run([sys.argv[4], file.name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    # tl-check passes on what it takes, and tells of each kind of error a few times only.
    refused = set(range(1, len(all_mutants) + 1)) - {json.loads(line)["mutant"] for line in taken.splitlines()}
    nvalid = 0
    for i, (what, record, must) in enumerate(all_mutants, 1):
        valid = checker.is_valid(record)
        nvalid += valid
        if must and valid:
            print("the schema takes", what)
        if must and i not in refused:
            print("tl-check takes", what)
        if not valid and i not in refused:
            print("the schema alone refuses", what)
    print(len(all_mutants), "changed records,", nvalid, "of which the schema takes", file=sys.stderr)
    if not nvalid or not all_mutants:
        print("nothing was tried")


{"valid": check_valid, "known": check_known, "mutants": check_mutants}[part]()
