/** Returns an option for Node. Node with this option cannot resolve `localhost` while `file` exists. */
export function localhostUnknownWhile(file: string): string {
  const module = `
    import dns from 'node:dns';
    import { existsSync } from 'node:fs';
    const { lookup } = dns;
    dns.lookup = (host, ...rest) => {
      const isUnknown = host === 'localhost' && existsSync(${JSON.stringify(file)});
      lookup(isUnknown ? 'localhost.invalid' : host, ...rest);
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(module)}`;
}
