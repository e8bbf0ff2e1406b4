import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The hosts and networks to which the store may connect, even if they are not public. */
export type AllowedTargets = ReturnType<typeof parseAllowed>;

/** The metadata service of Azure has this public address. Other clouds use private addresses. */
const azureMetadata = '168.63.129.16';

/** Whether an address is public. A public address is in no IANA special-purpose registry (RFC 6890). */
function isPublic(address: string): boolean {
  return ipaddr.process(address).range() === 'unicast' && address !== azureMetadata;
}

/** Whether a text is a host name, an address or a network such as 10.0.0.0/8. */
export function isWebhookTarget(text: string): boolean {
  if (ipaddr.isValidCIDR(text) || isIP(text) > 0) return true;
  return /^[a-z\d_][a-z\d_.-]{0,252}$/i.test(text) && URL.canParse(`http://${text}`);
}

/** @param entries texts for which `isWebhookTarget` returns true */
export function parseAllowed(entries: readonly string[]) {
  const isNetwork = (entry: string) => isIP(entry.replace(/\/.*/, '')) > 0;
  const hosts = entries.filter((entry) => !isNetwork(entry)).map((host) => host.toLowerCase());
  const networks = entries.filter(isNetwork).map((entry) => {
    const isAddress = !entry.includes('/');
    return ipaddr.parseCIDR(isAddress ? `${entry}/${isIP(entry) === 6 ? 128 : 32}` : entry);
  });
  return { hosts: new Set(hosts), networks };
}

/** Returns why the store may not send to a URL, or undefined. Does not look up the host. */
export function explainUrl(text: string, allowed: AllowedTargets): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL';
  const url = new URL(text);
  const mayBeAllowed = allowed.hosts.has(hostOf(url)) || allowed.networks.length > 0;
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
 * @throws Error when the look-up fails, or when the store may not connect to any address of the host
 */
export async function findAddresses(url: URL, allowed: AllowedTargets) {
  const addresses = await lookup(hostOf(url), { all: true });
  const found = addresses.filter(({ address }) => mayConnect(url, address, allowed));
  if (found.length === 0) throw new Error(`the URL ${notPublic(url)}`);
  return found;
}

function mayConnect(url: URL, address: string, { hosts, networks }: AllowedTargets): boolean {
  if (hosts.has(hostOf(url))) return true;
  const parsed = ipaddr.process(address);
  const isAllowed = networks.some(([network, bits]) => {
    return parsed.kind() === network.kind() && parsed.match(network, bits);
  });
  return isAllowed || (url.protocol === 'https:' && isPublic(address));
}

function notPublic(url: URL): string {
  return `has the host ${hostOf(url)}, which is not public: use another host, or add this one to PLANT_STORE_WEBHOOK_ALLOW`;
}

/** The host of a URL. `new URL` has normalized an IPv4 address, for example `0x7f.1` to 127.0.0.1. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
