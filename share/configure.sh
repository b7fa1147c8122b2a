#!/bin/sh
# Prints config.mk: the libraries that are here. oneDNN 2.x and 3.x both serve; its pkg-config file may be missing.
set -eu
libs() { pkg-config --libs "$1" 2>/dev/null || echo "$2"; }
echo "LIBS := $(libs nettle -lnettle) -lm"
echo "LIBS_archive := $(libs libarchive -larchive)"
echo "LIBS_csv := -lcsv"
echo "LIBS_sqlite := $(libs sqlite3 -lsqlite3)"
echo "LIBS_ref := $(libs dnnl -ldnnl) -ldl"
echo 'LIBS += $(LIBS_archive) $(LIBS_csv) $(LIBS_sqlite)'
