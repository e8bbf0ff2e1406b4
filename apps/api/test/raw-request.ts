import { once } from 'node:events';
import { connect } from 'node:net';

export interface RawReply {
  /** NaN where there was no reply. */
  status: number;
  headers: Headers;
  body: string;
}

/**
 * Sends bytes as they are, over a socket of their own, and returns the first reply, all of them and their text,
 * once the server has closed it. With `isAll` the server is told that no more will come; what comes
 * under `afterReply` is sent after the first bytes of a reply.
 */
export async function sendRaw(
  url: string,
  bytes: string | Uint8Array,
  { isAll = false, afterReply }: { isAll?: boolean; afterReply?: string } = {},
): Promise<RawReply & { replies: RawReply[]; text: string }> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {});
  if (isAll) socket.end(bytes);
  else socket.write(bytes);
  if (afterReply !== undefined) socket.once('data', () => socket.write(afterReply));
  await once(socket, 'close');

  const bytesBack = Buffer.concat(chunks);
  const replies = repliesIn(bytesBack);
  const final = replies.find(({ status }) => status !== 100);
  return {
    ...(final ?? { status: Number.NaN, headers: new Headers(), body: '' }),
    replies,
    text: bytesBack.toString(),
  };
}

function repliesIn(bytes: Buffer): RawReply[] {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return [];
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString().split('\r\n');
  const headers = new Headers();
  for (const line of lines) headers.append(...splitAtColon(line));
  const rest = bytes.subarray(end + 4);
  const isChunked = headers.has('transfer-encoding');
  const length = isChunked ? rest.length : Number(headers.get('content-length') ?? 0);
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
