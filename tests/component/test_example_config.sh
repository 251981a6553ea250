# The example files in deploy/conf are what the programs say of themselves, and
# each is a configuration that its program accepts.
set -eu
for program in rain-gateway grab-service settle-worker rainctl; do
	file=$RAIN_SOURCE/deploy/conf/$program.ini
	"$RAIN_BIN/$program" --example-config | sed 's/ *$//' | diff "$file" - || {
		echo "deploy/conf/$program.ini differs from $program --example-config (trailing blanks cut)"
		exit 1
	}
	[ $program = rainctl ] || "$RAIN_BIN/$program" --config "$file" --check-config
done
