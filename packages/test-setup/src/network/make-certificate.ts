import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

interface Certificate {
  name: string;
  /** The certificate in PEM. */
  certificate: string;
  /** The private key in PEM. */
  key: string;
  privateKey: KeyObject;
}

/**
 * Makes a certificate, which expires after `lifetime` milliseconds, for a host name or an IPv4 address.
 * `authority` signs the certificate. Without `authority`, makes the certificate of a new authority. Node
 * cannot write X.509 certificates (RFC 5280), so this file writes the parts of DER that a certificate needs.
 */
export function makeCertificate(
  name: string,
  authority?: Certificate,
  lifetime = 86_400_000,
): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const isAuthority = authority === undefined;
  const signed = sequence(
    der(0xa0, integer(Buffer.from([2]))), // Version 3.
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    nameOf(authority?.name ?? name),
    sequence(time(-3_600_000), time(lifetime)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(isAuthority ? mayIssue : namesHost(name))),
  );
  const signature = sign('sha256', signed, authority?.privateKey ?? privateKey);
  const whole = sequence(signed, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    name,
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    privateKey,
  };
}

/** Encodes a value in DER: its tag, its length and its content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const integer = (bytes: Buffer) => der(0x02, bytes);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const derTrue = der(0x01, Buffer.from([255]));

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));

/** Encodes an X.509 name with one field, the common name. */
const nameOf = (name: string) =>
  sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));

/** Encodes the current time plus `fromNow` milliseconds. */
function time(fromNow: number): Buffer {
  const digits = new Date(Date.now() + fromNow).toISOString().replace(/\.\d+|\D/g, '');
  return der(0x18, Buffer.from(`${digits}Z`));
}

/** The critical extension "basic constraints": the owner may issue certificates. */
const mayIssue = sequence(oid('551d13'), derTrue, der(0x04, sequence(derTrue)));

/** The extension "subject alternative name": the host that the certificate is for. */
function namesHost(name: string): Buffer {
  const host = isIP(name)
    ? der(0x87, Buffer.from(name.split('.').map(Number)))
    : der(0x82, Buffer.from(name));
  return sequence(oid('551d11'), der(0x04, sequence(host)));
}
