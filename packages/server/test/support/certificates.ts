import { execFile } from 'node:child_process';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generate } from 'selfsigned';

export interface PemCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateOptions {
  readonly names?: readonly string[];
  /** Days from now. */
  readonly validFrom?: number;
  readonly validTo?: number;
  readonly passphrase?: string;
  /** Signs the certificate; otherwise it is self-signed. */
  readonly issuer?: PemCertificate;
}

const dayMs = 86_400_000;

export async function createCertificate({
  names = ['localhost', '127.0.0.1'],
  validFrom = -1,
  validTo = 1,
  passphrase,
  issuer,
}: CertificateOptions = {}): Promise<PemCertificate> {
  const generated = await generate([{ name: 'commonName', value: names[0]! }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() + validFrom * dayMs),
    notAfterDate: new Date(Date.now() + validTo * dayMs),
    extensions: [
      { name: 'basicConstraints', cA: issuer === undefined },
      {
        name: 'subjectAltName',
        altNames: names.map((name) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name })),
      },
    ],
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(issuer === undefined ? {} : { ca: { cert: issuer.certificate, key: issuer.key } }),
  });
  return { certificate: generated.cert, key: generated.private };
}

/** Writes `server.pfx` of the files `server.crt` and `server.key` of the folder. */
export async function writePfx(folder: string, passphrase: string): Promise<void> {
  const [key, certificate, output] = ['server.key', 'server.crt', 'server.pfx'].map((name) => join(folder, name));
  const files = ['-inkey', key!, '-in', certificate!, '-out', output!];
  await promisify(execFile)('openssl', ['pkcs12', '-export', ...files, '-passout', `pass:${passphrase}`]);
}
