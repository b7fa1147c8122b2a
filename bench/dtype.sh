# shellcheck shell=sh
# A model's workloads in other types. Whoever reads this file has set bin.

workloads_in() { # '', bf16 or int8; model
	case $1 in
	int8)
		workloads=$("${bin:?}/tl-extract" -q --vary dtype=u8:s8:u8 "$2") || return
		echo "$workloads" |
			sed 's/"workload_id":"[0-9a-f]*",//; s/"post":\["bias"/&,"scale"/; t; s/"post":\[\]/"post":["scale"]/; t
				s/"post":\[/&"scale",/' | "$bin/tl-check" --fix
		;;
	*) "${bin:?}/tl-extract" -q ${1:+--vary "dtype=$1"} "$2" ;;
	esac
}
