/** The certificate of the HTTPS server: its files, their validation, its names. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { Duplex } from 'node:stream';
import { createSecureContext, type SecureContextOptions, TLSSocket } from 'node:tls';
import { ConfigurationError } from '../config/configuration-error.ts';
import type { Configuration } from '../config/schema.ts';
import { isTls } from '../config/schema/tls.ts';
import type { Certificate } from '../http/tls-server.ts';

type TlsConfiguration = Configuration['tls'];

const fileSettings = ['certificate', 'key', 'pfx', 'ca'] as const;
type FileSetting = (typeof fileSettings)[number];

/** The contents of the files by their setting. */
export type CertificateFiles = Readonly<Partial<Record<FileSetting, Buffer>>>;

/** @throws ConfigurationError for settings that need or exclude one another */
export function validateTls(tls: TlsConfiguration): void {
  const { certificate, key, pfx } = tls;
  const issues: string[] = [];
  if (pfx !== null && (certificate !== null || key !== null)) {
    issues.push('tls.pfx: not together with tls.certificate and tls.key; set only one of them');
  } else if (certificate !== null && key === null) {
    issues.push('tls.key: missing; set it to the PEM file of the private key of tls.certificate');
  } else if (certificate === null && key !== null) {
    issues.push('tls.certificate: missing; set it to the PEM file of the certificate of tls.key');
  } else if (!isTls(tls)) {
    for (const name of ['ca', 'passphrase', 'redirectPort', 'redirectTargetPort'] as const) {
      if (tls[name] !== null) {
        issues.push(`tls.${name}: has no effect without a certificate; set tls.certificate and tls.key, or tls.pfx`);
      }
    }
  }
  if (issues.length > 0) throw new ConfigurationError(issues);
}

/** @throws ConfigurationError with every file that cannot be read */
export async function readCertificateFiles(tls: TlsConfiguration, workingDirectory: string): Promise<CertificateFiles> {
  const files: Partial<Record<FileSetting, Buffer>> = {};
  const issues: string[] = [];
  for (const name of fileSettings) {
    const path = tls[name];
    if (path === null) continue;
    try {
      // At most three files.
      files[name] = await readFile(resolve(workingDirectory, path));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
      const remedy =
        code === 'ENOENT'
          ? 'correct the path, which is relative to the working directory'
          : 'set it to a file that the user of this process may read';
      issues.push(`tls.${name}: cannot read ${path} (${code}); ${remedy}`);
    }
  }
  if (issues.length > 0) throw new ConfigurationError(issues);
  return files;
}

/**
 * Returns the certificate of the files.
 * @throws ConfigurationError for contents that are invalid, or do not belong together
 */
export function parseCertificate(tls: TlsConfiguration, files: CertificateFiles): Certificate {
  const { passphrase, minVersion } = tls;
  if (files.pfx === undefined) checkPem(tls, files);
  if (files.ca !== undefined) checkAuthorities(tls, files.ca);
  const secureContext: SecureContextOptions = {
    minVersion,
    ...(files.certificate === undefined ? {} : { cert: files.certificate }),
    ...(files.key === undefined ? {} : { key: files.key }),
    ...(files.pfx === undefined ? {} : { pfx: files.pfx }),
    ...(files.ca === undefined ? {} : { ca: files.ca }),
    ...(passphrase === null ? {} : { passphrase }),
  };
  return { x509: ownCertificate(tls, secureContext), secureContext };
}

function checkPem(tls: TlsConfiguration, { certificate = Buffer.alloc(0), key = Buffer.alloc(0) }: CertificateFiles) {
  const x509 = attempt(
    () => new X509Certificate(certificate),
    `tls.certificate: ${tls.certificate} has no PEM certificate`,
  );
  if (!x509.checkPrivateKey(privateKey(tls, key))) {
    throw new ConfigurationError([
      `tls.key: the private key in ${tls.key} does not belong to the certificate in ${tls.certificate}`,
    ]);
  }
}

function privateKey({ key: path, passphrase }: TlsConfiguration, key: Buffer): KeyObject {
  const text = key.toString('latin1');
  const isEncrypted = /BEGIN ENCRYPTED PRIVATE KEY|^Proc-Type: 4,ENCRYPTED/m.test(text);
  if (isEncrypted && passphrase === null) {
    throw new ConfigurationError([`tls.key: the private key in ${path} is encrypted; set tls.passphrase`]);
  }
  const reason = isEncrypted
    ? `tls.passphrase: does not decrypt the private key in ${path}`
    : `tls.key: ${path} has no PEM private key`;
  return attempt(() => createPrivateKey({ key, ...(isEncrypted ? { passphrase: passphrase! } : {}) }), reason);
}

function checkAuthorities(tls: TlsConfiguration, ca: Buffer): void {
  attempt(() => new X509Certificate(ca), `tls.ca: ${tls.ca} has no PEM certificate`);
}

/** Returns the server's certificate of a context, which may come from a PFX file. */
function ownCertificate(tls: TlsConfiguration, options: SecureContextOptions): X509Certificate {
  const place = tls.pfx === null ? `tls.certificate: ${tls.certificate}` : `tls.pfx: ${tls.pfx}`;
  try {
    const secureContext = createSecureContext(options);
    // The only documented access to the certificate of a PFX file. Nothing is sent.
    const socket = new TLSSocket(new Duplex({ read: () => undefined }), { isServer: true, secureContext });
    const x509 = socket.getX509Certificate();
    socket.destroy();
    if (x509 !== undefined) return x509;
  } catch (error) {
    throw new ConfigurationError([`${place} ${contextProblem((error as Error).message)}`]);
  }
  throw new ConfigurationError([`${place} has no certificate`]);
}

/** Translates a message of OpenSSL. */
function contextProblem(message: string): string {
  if (/mac verify failure/i.test(message)) return 'cannot be decrypted; set tls.passphrase to its passphrase';
  if (/not enough data|wrong tag|header too long|asn1/i.test(message)) return 'is not a PFX (PKCS #12) file';
  if (/unsupported/i.test(message)) return 'is encrypted with an outdated algorithm; export it again with AES';
  return `cannot be used: ${message}`;
}

/** @throws ConfigurationError with the reason instead of OpenSSL's error */
function attempt<Product>(parse: () => Product, reason: string): Product {
  try {
    return parse();
  } catch {
    throw new ConfigurationError([reason]);
  }
}

/** Returns why clients reject the certificate at this time; null when its period of validity contains the time. */
export function validityProblem({ x509 }: Certificate, now: Date): string | null {
  if (now > new Date(x509.validTo)) return `the TLS certificate expired on ${day(x509.validTo)}`;
  if (now < new Date(x509.validFrom)) return `the TLS certificate is not valid before ${day(x509.validFrom)}`;
  return null;
}

/** The date of the end of validity: `2027-01-31`. */
export function expiryDate({ x509 }: Certificate): string {
  return day(x509.validTo);
}

function day(time: string): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Whether the certificate is for this host name or IP address; IPv6 in brackets. */
export function isNameOf({ x509 }: Certificate, host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  return (isIP(address) === 0 ? x509.checkHost(address) : x509.checkIP(address)) !== undefined;
}
