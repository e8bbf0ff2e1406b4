import { int64Bounds } from '@plant-store/schemas';

/**
 * The text at the top of the API reference, as CommonMark. A relative link in this text works in `docs`
 * and in `openapi.json`, because both addresses have the same parent.
 */
export const introduction = `Clients create, read and delete plants in the store over HTTP. Your first plant takes three steps:

1. **Get an access token** from the operator of the store. The operator runs \`plant-store token create <name>\`. A store with an embedded database prints a token when it starts.
2. **Create a plant.** \`STORE\` is the address of this page without \`/docs\`, and \`TOKEN\` is your access token.

\`\`\`sh
curl "$STORE/plants" -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
  -d '{"id":4096,"name":"Monstera deliciosa","tag":"Araceae"}'
\`\`\`

3. **Read it back.**

\`\`\`sh
curl "$STORE/plants/4096" -H "Authorization: Bearer $TOKEN"
\`\`\`

- **A retry is safe.** When a response is lost, send the same plant again: the store keeps one plant, and the response is 200. A different plant under an id that is taken gets 409.
- **Many plants** go faster in one call: \`POST /plants/batch\` takes up to 1000 plants, and returns a result for each.
- **You choose the id:** any integer from ${int64Bounds.minimum} to ${int64Bounds.maximum}. JavaScript rounds numbers beyond ±${Number.MAX_SAFE_INTEGER}, so write the digits of such an id into the JSON unchanged, and read its digits from the text of a response.
- **A token has scopes:** \`plants:create\`, \`plants:read\`, \`plants:delete\` and \`tokens:manage\`. A new token can create and read unless the operator says otherwise. A call beyond its scopes gets 403. \`GET /whoami\` tells what a token may do.
- **Every error** is \`{"error": 40900, "message": "…"}\`. The first three digits of \`error\` are the HTTP status, and the message says what to do.
- **A generated client** may need \`STORE\` as its base URL. The URL of the server in this document is relative, and some generators do not support that.
`;
