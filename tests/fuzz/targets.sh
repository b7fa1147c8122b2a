#!/bin/sh
# The targets of the fuzzer, a line each: readers of models, each with networks to begin with, and what is no model.
printf '%s\n' records csv trace archive hdf5 index where vary shape dim
for folder in tests/networks/[a-z]*/; do
	basename "$folder"
done
