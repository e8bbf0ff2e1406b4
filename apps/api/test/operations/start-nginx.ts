import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort, makeCertificate } from '@plant-store/test-setup';

/** Debian installs nginx in /usr/sbin, which is only in root's PATH. */
const env = { PATH: [process.env['PATH'], '/usr/sbin'].join(delimiter) };

export const hasNginx = spawnSync('nginx', ['-v'], { env }).status === 0;

export type TestNginx = Awaited<ReturnType<typeof startNginx>>;

/**
 * Starts an nginx with a configuration of the repository. Replaces only the addresses, the certificate and
 * the timeouts. `upstreams` are the URLs of the instances.
 */
export async function startNginx(
  upstreams: readonly string[],
  readTimeout = '15s',
  file: 'docs/nginx.conf' | 'examples/cluster/nginx.conf' = 'docs/nginx.conf',
  shortTimeout = '1s',
) {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-nginx-'));
  const port = await freePort();
  const authority = makeCertificate('The test authority');
  const { certificate, key } = makeCertificate('localhost', authority);
  await writeFile(join(directory, 'certificate'), certificate);
  await writeFile(join(directory, 'key'), key, { mode: 0o600 });
  const hosts = upstreams.map((url) => `server ${new URL(url).host} max_fails=0;`);
  const configuration = await readFile(new URL(`../../../../${file}`, import.meta.url), 'utf8');
  await writeFile(
    join(directory, 'plant-store.conf'),
    replaceEach(configuration.replaceAll(' 1s;', ` ${shortTimeout};`), [
      [/server (10\.0\.0\.11|store-1):3000 max_fails=0;/, hosts.join('\n')],
      [/server (10\.0\.0\.12|store-2):3000 max_fails=0;/, ''],
      [/listen (80|443 ssl http2);/, `listen 127.0.0.1:${port} ssl http2;`],
      [/( *ssl_certificate.*;\n)*\n? {2}location/, `${tls}  location`],
      [/proxy_read_timeout 15s;/, `proxy_read_timeout ${readTimeout};`],
    ]),
  );
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const main = `daemon off; master_process off; pid nginx.pid; error_log stderr notice;
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${name};`).join(' ')}
  include plant-store.conf;
}
`;
  await writeFile(join(directory, 'nginx.conf'), main);

  const nginx = spawn('nginx', ['-p', `${directory}/`, '-c', 'nginx.conf', '-e', 'stderr'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(nginx, 'exit');
  let log = '';
  const { promise: started, resolve, reject } = Promise.withResolvers<void>();
  nginx.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
    if (log.includes('using the "')) resolve();
  });
  nginx.once('exit', () => reject(new Error(`nginx exited:\n${log}`)));
  await started;
  return {
    port,
    /** The certificate that clients must trust. */
    ca: authority.certificate,
    async stop() {
      nginx.kill('SIGTERM');
      await exit;
      await rm(directory, { recursive: true });
    },
  };
}

const tls = '  ssl_certificate certificate;\n  ssl_certificate_key key;\n';

export interface ReceivedResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends a request to nginx on a new TLS connection. */
export async function send(
  { port, ca }: TestNginx,
  path: string,
  { body, ...options }: RequestOptions & { body?: string } = {},
): Promise<ReceivedResponse> {
  const sent = request({ port, ca, path, host: '127.0.0.1', servername: 'localhost', ...options });
  sent.end(body);
  // The cast is safe, because the event `response` passes only the response.
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: await text(response),
  };
}

/** Replaces each pattern once. Throws an error when a pattern matches nothing. */
function replaceEach(text: string, replacements: [pattern: RegExp, replacement: string][]): string {
  return replacements.reduce((replaced, [pattern, replacement]) => {
    if (!pattern.test(replaced)) throw new Error(`the configuration has no ${pattern}`);
    return replaced.replace(pattern, () => replacement);
  }, text);
}
