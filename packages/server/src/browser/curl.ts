import type { PageRequest } from './request.ts';

/** Returns a curl command for POSIX shells. `Authorization` is a shell variable: the clipboard is not a place for tokens. */
export function curlCommand({ method, url, headers, body, files }: PageRequest): string {
  const form = files.map(({ name }) => `-F ${quote(`file=@"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`)}`);
  const impliedMethod = body !== null || files.length > 0 ? 'POST' : 'GET';
  const words = [
    `curl ${quote(url)}`,
    ...(method === 'HEAD' ? ['--head'] : method === impliedMethod ? [] : [`-X ${quote(method)}`]),
    ...headers.map(
      ([name, value]) =>
        `-H ${name.toLowerCase() === 'authorization' ? credentials(value) : quote(`${name}: ${value}`)}`,
    ),
    ...form,
    ...(body === null ? [] : [`--data-raw ${quote(body)}`]),
  ];
  return words.join(' \\\n  ');
}

function credentials(value: string): string {
  return value.startsWith('Basic ') ? '"Authorization: Basic $CREDENTIALS"' : '"Authorization: Bearer $TOKEN"';
}

function quote(text: string): string {
  return /^[\w:/.,=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
