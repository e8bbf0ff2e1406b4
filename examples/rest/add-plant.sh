#!/bin/sh
# Creates a plant over REST with curl, and then reads the plant.
#
#   PLANT_STORE_TOKEN=plant_… examples/rest/add-plant.sh 9007199254740993 "Monstera deliciosa" Araceae
set -eu

# Encodes a text as a JSON string. The text may contain quotes and backslashes, but no control characters.
quoted() {
  printf '"%s"' "$(printf %s "$1" | sed 's/[\\"]/\\&/g')"
}

plant="{\"id\":$1,\"name\":$(quoted "$2")${3+,\"tag\":$(quoted "$3")}}"

# Sends a request with curl. Prints the response to stdout, or an error response to stderr.
call() {
  response=$(
    curl --silent --show-error --fail-with-body \
      --header "Authorization: Bearer $PLANT_STORE_TOKEN" "$@"
  ) || {
    printf '%s\n' "$response" >&2
    exit 1
  }
  printf '%s\n' "$response"
}

plants=${PLANT_STORE_URL:-http://127.0.0.1:3000}/plants
call --header 'Content-Type: application/json' --data "$plant" "$plants"
call "$plants/$1"
