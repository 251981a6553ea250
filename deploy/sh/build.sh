# Configuring and compiling a preset of CMakePresets.json.

# build PRESET [TARGET...]; one at a time in a tree.
build() {
	mkdir -p "$top/build" 2>/dev/null && [ -w "$top/build" ] ||
		fail "cannot write to $top/build"
	exec 9>"$top/build/lock"
	flock 9
	build_locked "$@"
	exec 9>&-
}

build_locked() {
	preset=$1
	shift
	if [ ! -f "$top/build/$preset/build.ninja" ]; then
		say "configuring build/$preset"
		cmake --preset "$preset" >"$top/build/$preset.log" 2>&1 || {
			tail -n 30 "$top/build/$preset.log" >&2
			fail "cmake failed, see build/$preset.log"
		}
	fi
	say "compiling build/$preset"
	if [ -t 1 ]; then
		cmake --build --preset "$preset" ${1:+--target "$@"}
	else
		cmake --build --preset "$preset" ${1:+--target "$@"} \
			>"$top/build/$preset.log" 2>&1 || {
			grep -A 20 -E ' error: |^FAILED' "$top/build/$preset.log" | head -n 60 >&2
			fail "the compiler found errors, see build/$preset.log"
		}
	fi
}

# What the demo and up need of the build.
programs="rain-gateway grab-service settle-worker rainctl"
