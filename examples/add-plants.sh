#!/bin/sh
# Adds every plant of a file to the store over REST and says how many were added.
#
#   PLANT_STORE_TOKEN=plant_… examples/add-plants.sh [file.ndjson]
#
# PLANT_STORE_URL is where the store is, http://127.0.0.1:3000 unless set.
set -eu

file=${1:-"$(dirname "$0")/houseplants.ndjson"}
url=${PLANT_STORE_URL:-http://127.0.0.1:3000}
: "${PLANT_STORE_TOKEN:?set it to an access token: the store prints one when it first starts}"

reply=$(mktemp)
trap 'rm -f "$reply"' EXIT

added=0
refused=0
while IFS= read -r plant || [ -n "$plant" ]; do
  status=$(
    printf '%s' "$plant" | curl --silent --show-error --output "$reply" --write-out '%{http_code}' \
      --header "Authorization: Bearer $PLANT_STORE_TOKEN" \
      --header 'Content-Type: application/json' \
      --data-binary @- "$url/plants"
  )
  if [ "$status" = 200 ]; then
    added=$((added + 1))
  else
    refused=$((refused + 1))
    printf '%s: %s\n' "$plant" "$(cat "$reply")" >&2
  fi
done <"$file"

echo "$added added, $refused refused"
[ "$refused" = 0 ]
