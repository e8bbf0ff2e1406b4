/**
 * Prints each change of the store, with the package `eventsource`.
 *
 *   PLANT_STORE_TOKEN=plant_… npx -y pnpm exec node examples/events.ts
 */
import { EventSource } from 'eventsource';

const changes = `${process.env['PLANT_STORE_URL'] ?? 'http://127.0.0.1:3000'}/plants/changes`;
const headers = { authorization: `Bearer ${process.env['PLANT_STORE_TOKEN']}` };

// A separate request gets the first cursor, because `eventsource` ignores an event with an id but no data.
const response = await fetch(changes, { headers });
const { next }: { next: string } = JSON.parse(await response.text());
const events = new EventSource(`${changes}?after=${next}`, {
  fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }),
});
for (const type of ['created', 'deleted']) {
  events.addEventListener(type, ({ data }) => console.log(type, data));
}
events.addEventListener('error', ({ code, message }) => {
  if (events.readyState === events.CLOSED) console.error(code, message);
});
setInterval(() => {}, 60_000); // This timer keeps Node running when a stream ends.
