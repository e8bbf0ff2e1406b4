import { once } from 'node:events';
import { connect } from 'node:net';

export interface RawReply {
  /** NaN where there was no reply. */
  status: number;
  headers: Headers;
  body: string;
}

/**
 * Sends bytes as they are, over a socket of their own, and returns the first reply once the server
 * has closed it. With `isAll` the server is told that no more will come.
 */
export async function sendRaw(
  url: string,
  bytes: string | Uint8Array,
  { isAll = false } = {},
): Promise<RawReply> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {});
  if (isAll) socket.end(bytes);
  else socket.write(bytes);
  await once(socket, 'close');

  const text = Buffer.concat(chunks)
    .toString()
    .replace(/^HTTP\/1.1 100 Continue\r\n\r\n/, '');
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers();
  for (const line of lines) headers.append(...splitAtColon(line));
  const body = Buffer.from(rest.join('\r\n\r\n'));
  const length = Number(headers.get('content-length') ?? body.length);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    body: body.subarray(0, length).toString(),
  };
}

function splitAtColon(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
