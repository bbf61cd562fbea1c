/** Names of columns and types that hold secrets. */

const words: ReadonlySet<string> = new Set([
  'password',
  'passwd',
  'passwort',
  'pwd',
  'passphrase',
  'secret',
  'secrets',
  'token',
  'apikey',
  'credential',
  'credentials',
  'otp',
  'totp',
  'cvv',
  'cvc',
  'ssn',
  'pin',
]);

const phrases: readonly string[] = [
  'api key',
  'private key',
  'secret key',
  'ssh key',
  'encryption key',
  'credit card',
  'card number',
  'recovery code',
  'backup code',
  'social security',
];

/** Words after a secret that make it a fact about one: `password_changed_at`, `token_type`. */
const facts: ReadonlySet<string> = new Set([
  'at',
  'on',
  'id',
  'type',
  'count',
  'name',
  'length',
  'expires',
  'expiry',
  'until',
  'status',
  'hint',
  'policy',
  'strength',
  'version',
]);

/** Booleans, dates and intervals. */
const plainCategories = 'BDT';
const plainTypes = /^(boolean|date|interval|time|timestamp)/;

/** Whether a column holds a secret by its name or the name of its type. */
export function isSecret({
  name,
  type,
  category,
}: {
  readonly name: string;
  readonly type: string;
  readonly category: string;
}): boolean {
  if ((category !== '' && plainCategories.includes(category)) || plainTypes.test(type)) return false;
  return isSecretName(name) || isSecretName(type);
}

function isSecretName(name: string): boolean {
  const parts = name
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  if (facts.has(parts.at(-1)!)) return false;
  return (
    parts.some((part) => words.has(part)) || phrases.some((phrase) => ` ${parts.join(' ')} `.includes(` ${phrase} `))
  );
}
