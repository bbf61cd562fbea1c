import { integer, nullable, oneOf, option, type Option } from '@pgway/core/internal';
import { flag, optionalSecret, optionalText } from './fields.ts';
import { section, type SectionValues } from './section.ts';

const port = (description: string): Option<number | null> =>
  option(nullable(integer({ min: 0, max: 65_535 })), null, description);

export const tlsSection = section('HTTPS.', {
  certificate: optionalText(
    'The PEM file of the certificate, followed by its intermediate certificates. With `key`, the server serves HTTPS instead of HTTP. New connections use a renewed file, without a restart. Paths are relative to the working directory.',
  ),
  key: optionalText('The PEM file of the private key.'),
  pfx: optionalText('A PFX (PKCS #12) file with certificate and private key, instead of `certificate` and `key`.'),
  passphrase: optionalSecret('The passphrase of the private key, or of the PFX file.'),
  ca: optionalText(
    'The PEM file of the certificate authorities that sign client certificates. Connections without such a certificate are refused.',
  ),
  minVersion: option(oneOf('TLSv1.2', 'TLSv1.3'), 'TLSv1.2', 'The lowest version of TLS.'),
  http2: flag(true, 'Serves HTTP/2 to clients that support it; HTTP/1.1 to others.'),
  redirectPort: port(
    'A second port, such as 80, that redirects HTTP to HTTPS with status 308; 0: any free port. Null: none.',
  ),
  redirectTargetPort: port('The port in redirects, if clients reach the server at another one. Null: `port`.'),
});

/** Whether the server serves HTTPS. */
export function isTls({ certificate, pfx }: SectionValues<typeof tlsSection>): boolean {
  return certificate !== null || pfx !== null;
}
