import { once } from 'node:events';
import { connect } from 'node:net';

export interface RawReply {
  /** NaN where there was no reply. */
  status: number;
  headers: Headers;
  body: string;
}

/**
 * Sends bytes as they are, over a socket of their own, and returns the first reply, and all of them,
 * once the server has closed it. With `isAll` the server is told that no more will come.
 */
export async function sendRaw(
  url: string,
  bytes: string | Uint8Array,
  { isAll = false } = {},
): Promise<RawReply & { replies: RawReply[] }> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {});
  if (isAll) socket.end(bytes);
  else socket.write(bytes);
  await once(socket, 'close');

  const replies = repliesIn(Buffer.concat(chunks)).filter(({ status }) => status !== 100);
  const [first = { status: Number.NaN, headers: new Headers(), body: '' }] = replies;
  return { ...first, replies };
}

function repliesIn(bytes: Buffer): RawReply[] {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return [];
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString().split('\r\n');
  const headers = new Headers();
  for (const line of lines) headers.append(...splitAtColon(line));
  const rest = bytes.subarray(end + 4);
  const length = Number(headers.get('content-length') ?? 0);
  const status = Number(statusLine.split(' ')[1]);
  return [
    { status, headers, body: rest.subarray(0, length).toString() },
    ...repliesIn(rest.subarray(length)),
  ];
}

function splitAtColon(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
