#!/usr/bin/env bash
# Gauntlet with nothing but curl. GAUNTLET_URL and GAUNTLET_TOKEN say which server.
set -euo pipefail
url=${GAUNTLET_URL:-http://127.0.0.1:4747}
call() {
  curl --silent --show-error --fail-with-body \
    --header "Authorization: Bearer ${GAUNTLET_TOKEN:?set it to the token of the server}" \
    --header 'Content-Type: application/json' "$@"
}

echo '# The tools, for people'
call "$url/tools?format=table"

echo '# A batch: two calls that run side by side, results in order'
call "$url/execute" --data '{
  "tool_uses": [
    {"type": "tool_use", "id": "first", "name": "Sleep", "input": {"duration_ms": 200}},
    {"type": "tool_use", "id": "second", "name": "Bash", "input": {"command": "echo hello from bash"}}
  ]
}'
echo

echo '# The same as it happens: one frame a line'
call "$url/execute" --header 'Accept: application/x-ndjson' --data '{
  "tool_uses": [{"type": "tool_use", "id": "third", "name": "Bash", "input": {"command": "seq 1 3"}}]
}'

echo '# Would this be allowed, and why?'
session=$(call "$url/sessions" --data '{}' | sed 's/.*"session_id":"\([^"]*\)".*/\1/')
call "$url/sessions/$session/permissions/explain" --data '{"name": "Bash", "input": {"command": "rm -rf build"}}'
echo
