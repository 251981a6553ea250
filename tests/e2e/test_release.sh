# Packets that are released over four seconds: whoever comes too early is told
# to wait, never that all is gone; no packet goes before its time; all go.
. "$RAIN_SOURCE/tests/e2e/lib.sh"
begin

opened slow 100.00 100 'release = 4s'
expect "release as shown" "$(ctl --json activity show slow | field release_ms)" 4000
tap_on slow --front --conns 8 --users 400 --rate 400 \
	--duration 8 --retry honour >"$dir/flood.json"
cat "$dir/flood.json"
ctl activity close slow
wait_state slow SETTLED 60
books slow

python3 - "$dir/flood.json" "$dir/ledger.db" <<'PY'
import json, sqlite3, sys

flood = json.load(open(sys.argv[1]))
ledger = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
opened = ledger.execute(
    "SELECT at_ms FROM activity_change WHERE kind = 'opened'").fetchone()[0]
claims = ledger.execute(
    "SELECT seq, at_ms FROM red_packet_record ORDER BY seq").fetchall()
assert [seq for seq, _ in claims] == list(range(1, 101)), len(claims)
for seq, at in claims:
    assert (at - opened) * 100 >= (seq - 1) * 4000, (seq, at - opened)
assert flood["statuses"]["WON"] == 100, flood["statuses"]
assert flood["statuses"]["NOT_YET"] > 0, flood["statuses"]
print(f"the last of 100 packets after {claims[-1][1] - opened} ms")
PY
passed
