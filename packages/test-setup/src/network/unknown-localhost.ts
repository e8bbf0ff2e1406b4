/** Returns an option for Node. With this option, Node cannot resolve `localhost` while the file exists. */
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
