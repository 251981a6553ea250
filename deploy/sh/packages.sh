# What redrain needs of Debian, and why. Nothing is installed twice.

# PACKAGE|WHY, a line each.
packages_build() {
	cat <<'TEXT'
gcc|compiles the services
libc6-dev|C library headers
cmake|describes the build
ninja-build|runs the build
pkg-config|finds the libraries
libuv1-dev|event loops
libprotobuf-c-dev|messages in C
protobuf-c-compiler|generates the messages' C code
protobuf-compiler|reads the message definitions
libhiredis-dev|speaks Redis' protocol
librdkafka-dev|speaks Kafka's protocol
libjwt-dev|checks the users' tokens
libinih-dev|reads configuration files
libmicrohttpd-dev|serves health and metrics
libjansson-dev|reads and writes JSON
libsqlite3-dev|keeps the ledger
libssl-dev|hashes and the packets' random stream
uthash-dev|hash tables
libcriterion-dev|runs the unit tests
python3|checks the house rules
TEXT
}

packages_run() {
	cat <<'TEXT'
redis-server|holds the packets
maven|fetches Apache Kafka from its published artifacts
TEXT
	have java || echo 'default-jre-headless|runs Apache Kafka'
}

packages_test() {
	cat <<'TEXT'
procps|tests look at the processes they start
git|house rules read the list of files
TEXT
	have javac || echo 'default-jdk-headless|compiles the Java peers that Dubbo is tested with'
}

# Who the benchmark compares with. Debian starts nginx when it is installed.
packages_peers() {
	cat <<'TEXT'
wrk|taps on the peers that speak HTTP
webdis|Redis over HTTP, a peer
nginx-light|HTTP server, a peer
libnginx-mod-http-lua|lets nginx ask Redis
TEXT
}

packages_fmt() {
	echo 'clang-format|formats the C sources'
}

packages_fuzz() {
	cat <<'TEXT'
clang|builds the fuzzers
libclang-rt-dev|runs the fuzzers
TEXT
}

# as_root COMMAND...: as it is for root, else through sudo.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif have sudo; then
		sudo "$@"
	else
		fail "installing packages needs root, or sudo: $*"
	fi
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# need GROUP...: install what is missing of packages_GROUP, in one go.
need() {
	missing=
	for group in "$@"; do
		lines=$("packages_$group")
		while IFS='|' read -r package why; do
			[ -n "$package" ] || continue
			if ! installed "$package"; then
				say "installing $package: $why"
				missing="$missing $package"
			fi
		done <<TEXT
$lines
TEXT
	done
	[ -n "$missing" ] || return 0
	have apt-get || fail "these Debian packages are missing and there is no apt-get:$missing"
	log=$(mktemp)
	as_root apt-get update -qq >"$log" 2>&1 || {
		cat "$log" >&2
		fail "apt-get update failed"
	}
	# shellcheck disable=SC2086 # a list of words
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
		--no-install-recommends $missing >"$log" 2>&1 || {
		tail -n 20 "$log" >&2
		fail "apt-get install failed, its last lines are above"
	}
	rm -f "$log"
}
