# The example files in deploy/conf are what the programs say of themselves, and
# each is a configuration that its program accepts.
set -eu
for program in rain-gateway grab-service settle-worker rainctl; do
	file=$RAIN_SOURCE/deploy/conf/$program.ini
	"$RAIN_BIN/$program" --example-config | sed 's/ *$//' | diff "$file" - || {
		echo "deploy/conf/$program.ini differs from $program --example-config (trailing blanks cut)"
		exit 1
	}
	# What nobody can know for an operator.
	case $program in
	rainctl) continue ;;
	rain-gateway) own=gateway.trust_plain_users=true ;;
	*) own=kafka.bootstrap.servers=127.0.0.1:9092 ;;
	esac
	case $program in
	settle-worker) set -- --set ledger.path=/var/lib/redrain/ledger.db ;;
	*) set -- ;;
	esac
	"$RAIN_BIN/$program" --config "$file" --set "$own" "$@" --check-config
done
# A ledger is never made where nobody said, nor in whatever directory it is.
for path in '' ledger.db ./ledger.db; do
	said=$("$RAIN_BIN/settle-worker" --set "ledger.path=$path" \
		--set kafka.bootstrap.servers=127.0.0.1:9092 \
		--check-config 2>&1) && {
		echo "settle-worker accepts ledger.path=$path"
		exit 1
	}
	case $said in
	*ledger.path*) ;;
	*)
		echo "settle-worker refuses ledger.path=$path without naming it: $said"
		exit 1
		;;
	esac
done
