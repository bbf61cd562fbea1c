/** The certificate in use, and its renewal when the files change. */
import { isTls } from '../config/schema/tls.ts';
import type { Configuration } from '../config/schema.ts';
import type { Certificate } from '../http/tls-server.ts';
import {
  type CertificateFiles,
  expiryDate,
  parseCertificate,
  readCertificateFiles,
  validateTls,
  validityProblem,
} from './certificate.ts';

type TlsConfiguration = Configuration['tls'];

/** Receives the lines about a renewal. */
export interface RenewalLog {
  readonly info: (line: string) => void;
  readonly error: (line: string) => void;
}

/** The certificate in use. */
export interface CertificateStore {
  readonly current: Certificate;
  /** About its period of validity, at the start. */
  readonly warnings: readonly string[];
  /** Checks the files at an interval, and calls the listener with a renewed certificate. Returns a function that ends it. */
  watch(renewed: (certificate: Certificate) => void): () => void;
}

/**
 * Returns null when the server does not serve HTTPS.
 * @throws ConfigurationError for files that cannot be read or used
 */
export async function openCertificateStore(
  { tls }: Configuration,
  workingDirectory: string,
  log: RenewalLog,
  checkIntervalMs = 5000,
): Promise<CertificateStore | null> {
  validateTls(tls);
  if (!isTls(tls)) return null;
  const files = await readCertificateFiles(tls, workingDirectory);
  const renewal = new Renewal(tls, workingDirectory, files);
  let current = parseCertificate(tls, files);
  const problem = validityProblem(current, new Date());
  return {
    get current() {
      return current;
    },
    warnings:
      problem === null
        ? []
        : [`${problem}: clients reject it; replace the files, which needs no restart of the server`],
    watch: (renewed) =>
      repeat(checkIntervalMs, () =>
        renewal.check(log, (certificate) => {
          renewed(certificate);
          current = certificate;
          log.info(`renewed the TLS certificate; the new one is valid until ${expiryDate(certificate)}`);
        }),
      ),
  };
}

/** Compares the files with those of the last check. */
class Renewal {
  readonly #tls: TlsConfiguration;
  readonly #workingDirectory: string;
  /** Those that were parsed last, and those of the last check. */
  #parsed: CertificateFiles;
  #seen: CertificateFiles;
  #failure: string | null = null;

  constructor(tls: TlsConfiguration, workingDirectory: string, files: CertificateFiles) {
    this.#tls = tls;
    this.#workingDirectory = workingDirectory;
    this.#parsed = files;
    this.#seen = files;
  }

  /** Reads the files, and calls `use` with a renewed certificate. A problem is logged once. */
  async check(log: RenewalLog, use: (certificate: Certificate) => void): Promise<void> {
    try {
      const files = await readCertificateFiles(this.#tls, this.#workingDirectory);
      // A renewal writes several files: they are used when they have not changed since the last check.
      const isSettled = isSame(files, this.#seen);
      this.#seen = files;
      if (!isSettled) return;
      if (!isSame(files, this.#parsed)) this.#use(files, use);
      this.#failure = null;
    } catch (error) {
      this.#report((error as Error).message.replaceAll(/\s*\n\s*/g, ' '), log);
    }
  }

  #use(files: CertificateFiles, use: (certificate: Certificate) => void): void {
    // Files that cannot be used are not parsed again until they change.
    this.#parsed = files;
    const certificate = parseCertificate(this.#tls, files);
    const problem = validityProblem(certificate, new Date());
    if (problem !== null) throw new Error(problem);
    use(certificate);
  }

  #report(failure: string, log: RenewalLog): void {
    if (failure === this.#failure) return;
    this.#failure = failure;
    log.error(`the renewed TLS certificate cannot be used, the previous one stays in use: ${failure}`);
  }
}

function isSame(left: CertificateFiles, right: CertificateFiles): boolean {
  return (['certificate', 'key', 'pfx', 'ca'] as const).every((name) => {
    const [one, other] = [left[name], right[name]];
    return one === undefined || other === undefined ? one === other : one.equals(other);
  });
}

/** Runs the work again and again, with a pause after each; returns a function that ends it. */
function repeat(pauseMs: number, work: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  const schedule = (): void => {
    if (ended) return;
    timer = setTimeout(() => void work().then(schedule), pauseMs);
    timer.unref();
  };
  schedule();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
