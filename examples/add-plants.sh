#!/bin/sh
# Creates every plant of a file over REST and prints the numbers of added and rejected plants.
#
#   PLANT_STORE_TOKEN=plant_… examples/add-plants.sh [file.ndjson]
#
# PLANT_STORE_URL is the address of the store. Its default is http://127.0.0.1:3000.
set -eu

file=${1:-"$(dirname "$0")/houseplants.ndjson"}
url=${PLANT_STORE_URL:-http://127.0.0.1:3000}
: "${PLANT_STORE_TOKEN:?set it to an access token, for example the one that the store prints when it starts}"

response=$(mktemp)
trap 'rm -f "$response"' EXIT

added=0
rejected=0
while IFS= read -r plant || [ -n "$plant" ]; do
  status=$(
    printf '%s' "$plant" | curl --silent --show-error --output "$response" --write-out '%{http_code}' \
      --header "Authorization: Bearer $PLANT_STORE_TOKEN" \
      --header 'Content-Type: application/json' \
      --data-binary @- "$url/plants"
  )
  if [ "$status" = 200 ]; then
    added=$((added + 1))
  else
    rejected=$((rejected + 1))
    printf '%s: %s\n' "$plant" "$(cat "$response")" >&2
  fi
done <"$file"

echo "$added added, $rejected rejected"
[ "$rejected" = 0 ]
