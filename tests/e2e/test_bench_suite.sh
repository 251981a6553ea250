# The benchmark suite runs: each row for a second. What comes out is looked at for
# its form; how fast it is, and whether a target is met, no test says.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin

python3 -B "$RAIN_SOURCE/bench/suite" --stack "$dir" --results "$dir/results" \
	--quick || wrong "every row of the suite to have a result"
python3 - "$dir/results" <<'PY'
import json, pathlib, sys
import xml.etree.ElementTree as xml

results = pathlib.Path(sys.argv[1])
report = json.loads((results / "latest.json").read_text())
assert report["machine"]["cores"] >= 1, report["machine"]
assert len(report["rows"]) == 16, [row["row"] for row in report["rows"]]
for row in report["rows"]:
    if "skipped" in row:
        assert row["skipped"].startswith("skipped: "), row
        assert row["skipped"].endswith("is not installed"), row
        continue
    value = row["ratio"] if "ratio" in row else row["value"]
    assert value >= 0 and isinstance(row["met"], bool), row
    assert len(row["rounds"]) == 1, row
    if "ratio" in row:
        assert value > 0, row
        assert abs(row["ours"] / row["theirs"] / value - 1) < 1e-6, row
bars = xml.fromstring((results / "latest.svg").read_bytes())
assert len(bars.findall("{http://www.w3.org/2000/svg}line")) == 1
PY
passed
