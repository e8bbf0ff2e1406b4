import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** The hosts and networks that the setting `PLANT_STORE_WEBHOOK_ALLOW` lists. */
export type AllowedTargets = ReturnType<typeof parseAllowed>;

/**
 * Addresses that are not public: the ranges of the IANA special-purpose registries (RFC 6890), and the
 * address of Azure's metadata service. The metadata services of other clouds have addresses in these ranges.
 */
const special = networksOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24'],
  ...['192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/3', '168.63.129.16/32'],
  ...['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'],
]);

/** The only public range of IPv6. The range has no IPv4-mapped, NAT64, link-local or private addresses. */
const globalUnicast = networksOf(['2000::/3']);

export function isPublic(address: string): boolean {
  const isGlobal = isIP(address) === 4 || contains(globalUnicast, address);
  return isGlobal && !contains(special, address);
}

/** Whether a text is a host name, an address or a network such as 10.0.0.0/8. */
export function isWebhookTarget(text: string): boolean {
  const [address = '', prefix = '0', ...rest] = text.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  if (isIP(address)) return /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits && rest.length === 0;
  return /^[a-z\d_][a-z\d_.-]{0,252}$/i.test(text) && URL.canParse(`http://${text}`);
}

/** @param entries texts for which `isWebhookTarget` returns true */
export function parseAllowed(entries: readonly string[]) {
  const isNetwork = (entry: string) => isIP(entry.replace(/\/.*/, '')) > 0;
  const hosts = entries.filter((entry) => !isNetwork(entry)).map((host) => host.toLowerCase());
  return { hosts: new Set(hosts), networks: networksOf(entries.filter(isNetwork)) };
}

/** Returns why the store may not send to a URL; otherwise undefined. Does not look up the host. */
export function explainUrl(text: string, allowed: AllowedTargets): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL';
  const url = new URL(text);
  const isNamed = allowed.hosts.has(hostOf(url));
  const mayBeAllowed = isNamed || allowed.networks.rules.length > 0;
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && mayBeAllowed)) {
    return 'must begin with https://, unless PLANT_STORE_WEBHOOK_ALLOW names its host';
  }
  if (url.username || url.password) return 'must not have a user or a password';
  if (isIP(hostOf(url)) && !mayConnect(url, hostOf(url), allowed)) return notPublic(url);
  return undefined;
}

/**
 * Looks up the host of a URL, and returns only the addresses to which the store may connect.
 *
 * @throws Error when the store may not connect to any address of the host
 */
export async function findAddresses(url: URL, allowed: AllowedTargets) {
  const addresses = await lookup(hostOf(url), { all: true });
  const found = addresses.filter(({ address }) => mayConnect(url, address, allowed));
  if (found.length === 0) throw new Error(`the URL ${notPublic(url)}`);
  return found;
}

function mayConnect(url: URL, address: string, { hosts, networks }: AllowedTargets): boolean {
  if (hosts.has(hostOf(url)) || contains(networks, address)) return true;
  return url.protocol === 'https:' && isPublic(address);
}

function notPublic(url: URL): string {
  return `has the host ${hostOf(url)}, which is not public: use another host, or add this one to PLANT_STORE_WEBHOOK_ALLOW`;
}

/** `new URL` normalizes IPv4 addresses, for example `0x7f.1` to 127.0.0.1. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function networksOf(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const isIPv6 = isIP(address) === 6;
    list.addSubnet(address, Number(prefix ?? (isIPv6 ? 128 : 32)), isIPv6 ? 'ipv6' : 'ipv4');
  }
  return list;
}
