#!/bin/sh
# Installs what share/deps.txt (or the list in this folder that is given) has and this Debian system lacks. Says and does nothing when
# all is there.
set -eu
cd "$(dirname "$0")"
list=$(sed 's/#.*//' "${1:-deps.txt}")

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || {
	echo "deps: this is no Debian system; see share/deps.txt for what is needed" >&2
	exit 1
}
# shellcheck disable=SC2086 # one word a package
missing=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $list 2>/dev/null |
	awk -v list="$list" '
		$2 == "installed" { there[$1] = 1 }
		END { n = split(list, p); for (i = 1; i <= n; i++) if (!there[p[i]]) print p[i] }')
[ -n "$missing" ] || exit 0

echo "deps: installing" $missing >&2
as_root=
if [ "$(id -u)" -ne 0 ]; then
	as_root=sudo
	command -v sudo >/dev/null || {
		echo "deps: not root, and there is no sudo; run as root: apt-get install" $missing >&2
		exit 1
	}
fi
apt() {
	# RUNLEVEL: a service that a package brings is not started.
	$as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
		apt-get -q -y -o DPkg::Lock::Timeout=600 "$@" </dev/null >&2
}
apt update || echo "deps: the package lists could not be brought up to date; going on with those that are here" >&2
# shellcheck disable=SC2086
apt install --no-install-recommends $missing
