#!/bin/sh
# run.sh 27|33 DIRECTORY PROGRAM [ARGS]: build the Java peer with that Dubbo
# version in DIRECTORY, unless it is there already, and run PROGRAM with
# JAVA_PEER, the command that starts it. Exit code 77 says that this machine
# has no Java to build it with. Downloads go to the cache in ~/.m2 only.
set -eu
version=$1
out=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)

for tool in mvn javac protoc; do
	if ! command -v $tool >/dev/null; then
		echo "skipped: no $tool here (Debian: maven, default-jdk-headless, protobuf-compiler)"
		exit 77
	fi
done
mkdir -p "$out"
stamp=$(cat "$here/pom.xml" "$here"/src/main/java/rain/*.java \
	"$here"/../../proto/rain/g*.proto | cksum)
if [ "$(cat "$out/stamp" 2>/dev/null)" != "$stamp" ]; then
	rm -rf "$out/classes" "$out/jars"
	mvn -q -B -f "$here/pom.xml" -P "dubbo$version" -Dout="$out" \
		-Dprotoc="$(command -v protoc)" compile >"$out/mvn.log" 2>&1 || {
		if grep -q 'Could not transfer\|Could not resolve\|offline' "$out/mvn.log"; then
			echo "skipped: Maven could not fetch Dubbo, see $out/mvn.log"
			exit 77
		fi
		cat "$out/mvn.log"
		exit 1
	}
	echo "$stamp" >"$out/stamp"
fi

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
# 2.7 needs the opened packages; 127.0.0.1 must not be replaced by the address
# of an interface; nothing may listen but what is asked for.
JAVA_PEER="java -Xms32m -Xmx192m -XX:+UseSerialGC -XX:TieredStopAtLevel=1
-Djava.net.preferIPv4Stack=true
--add-opens=java.base/java.lang=ALL-UNNAMED
-Ddubbo.network.interface.ignored=.*
-Ddubbo.application.register-mode=interface
-Ddubbo.application.qos.enable=false -Ddubbo.application.logger=slf4j
-Dorg.slf4j.simpleLogger.defaultLogLevel=error
-Dorg.slf4j.simpleLogger.log.org.apache.dubbo.common.utils.NetUtils=off
-Dorg.slf4j.simpleLogger.log.org.apache.dubbo.rpc.filter.ExceptionFilter=off
-Ddubbo.service.shutdown.wait=2000 -Duser.home=$home
-cp $out/classes:$out/jars/* rain.Peer"
export JAVA_PEER
"$@"
