#!/bin/sh
# The fault loop: each program with each of its calls failing, one after the other. See tests/fault/fault.pl.
exec perl "$(dirname "$0")/fault/fault.pl"
