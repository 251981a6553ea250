# Shared by the tests that flood: what the flood reported, what services count.

# flood_read: take the numbers out of $dir/flood.json, a line each.
flood_read() {
	python3 -c '
import json, sys

def walk(prefix, value):
    for name, part in value.items():
        if isinstance(part, dict):
            walk(prefix + name + ".", part)
        elif isinstance(part, (int, float)):
            print(prefix + name + "=" + str(int(part)))

walk("", json.load(sys.stdin))' <"$dir/flood.json" >"$dir/flood.txt"
}

# report NAME: one of them.
report() {
	value=$(sed -n "s/^$1=//p" "$dir/flood.txt")
	printf '%s\n' "${value:-0}"
}

# never NAME...: these are 0.
never() {
	for name in "$@"; do
		[ "$(report "$name")" = 0 ] || {
			cat "$dir/flood.json"
			wrong "$name to be 0"
		}
	done
}
