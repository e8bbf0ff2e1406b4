import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import {
  freePort,
  isInstalled,
  makeCertificate,
  untilLogged,
  withSbin,
} from '@plant-store/test-setup';

export const hasNginx = isInstalled('nginx');

export type TestNginx = Awaited<ReturnType<typeof startNginx>>;

const authority = makeCertificate('The test authority');

/**
 * Starts an nginx with a configuration of the repository. Replaces only the addresses, the certificate and
 * the timeouts. `upstreams` are the URLs of the instances. All clients of this process trust the certificate.
 */
export async function startNginx(
  upstreams: readonly string[],
  readTimeout = '15s',
  file = 'docs/nginx.conf',
  shortTimeout = '1s',
) {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-nginx-'));
  const port = await freePort();
  setDefaultCACertificates([...rootCertificates, authority.certificate]);
  const { certificate, key } = makeCertificate('127.0.0.1', authority);
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
    env: withSbin,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(nginx, 'exit');
  await untilLogged(nginx, /using the "/);
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    async stop() {
      nginx.kill('SIGTERM');
      await exit;
      await rm(directory, { recursive: true });
    },
  };
}

const tls = '  ssl_certificate certificate;\n  ssl_certificate_key key;\n';

/** Replaces each pattern once. Throws an error when a pattern matches nothing. */
function replaceEach(text: string, replacements: [pattern: RegExp, replacement: string][]): string {
  return replacements.reduce((replaced, [pattern, replacement]) => {
    if (!pattern.test(replaced)) throw new Error(`the configuration has no ${pattern}`);
    return replaced.replace(pattern, () => replacement);
  }, text);
}
