/** A failure at or of a provider, by its consequence for the client. */
export type ProviderFailure =
  /** No response, a timeout, or a 5xx. */
  | 'unavailable'
  /** A response that is not valid: a wrong nonce, issuer, audience or signature, an expired token, no JSON. */
  | 'invalid-response'
  /** The user has cancelled, or the provider has refused the user. */
  | 'denied';

export class ProviderError extends Error {
  readonly failure: ProviderFailure;

  constructor(failure: ProviderFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ProviderError';
    this.failure = failure;
  }
}

/** Errors of an authorization response that a decision of the user or the provider causes (RFC 6749, 4.1.2.1; OpenID Connect Core, 3.1.2.6). */
const denials: ReadonlySet<string> = new Set([
  'access_denied',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
  'user_cancelled_login',
  'user_cancelled_authorize',
]);
const outages: ReadonlySet<string> = new Set(['temporarily_unavailable', 'server_error']);

/** Turns an error of the client library into a provider error whose message has the reasons of the whole chain. */
export function toProviderError(error: unknown): ProviderError {
  const chain = causesOf(error);
  const known = chain.find((cause) => cause instanceof ProviderError);
  if (known !== undefined) return known;
  const code = codeOf(chain[0]);
  const failure = denials.has(code) ? 'denied' : outages.has(code) ? 'unavailable' : 'invalid-response';
  return new ProviderError(failure, chain.map(messageOf).join(': '), { cause: error });
}

const maxCauses = 4;

function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let next = error; next instanceof Error && causes.length < maxCauses; next = next.cause) causes.push(next);
  return causes;
}

/** Returns the OAuth error code of a redirect or of a response; empty without one. */
function codeOf(error: Error | undefined): string {
  return error !== undefined && 'error' in error && typeof error.error === 'string' ? error.error : '';
}

const maxQuoteLength = 200;

/** The provider, or a client that sends its redirect, chooses the description. */
function messageOf(error: Error): string {
  const code = codeOf(error);
  if (code === '') return error.message;
  const description = 'error_description' in error ? error.error_description : undefined;
  const quoted = [code, ...(typeof description === 'string' ? [description] : [])].map((text) =>
    JSON.stringify(text.slice(0, maxQuoteLength)),
  );
  return `the provider answered with the error ${quoted.join(', ')}`;
}
