import type { Annotation } from '../../src/endpoints/comment/annotation.ts';

const introduction = `# Annotations

<!-- Written from packages/core/src/endpoints/annotations by \`npm run docs\`. -->

Annotations are lines in the comment of a function or procedure. A routine is published when one of its lines begins
with \`HTTP\`; the other lines adjust the endpoint. What means nothing is prose, and becomes the description of the
endpoint.

\`\`\`sql
create function search_notes(_text text) returns setof text language sql stable as
$$ select note from unnest(array['milk', 'silk']) as note where note like '%' || _text || '%' $$;

comment on function search_notes is 'Notes that contain a text.
HTTP GET /notes
Cache-Control: max-age=60
timeout = 5s';
\`\`\`

\`\`\`console
$ curl -i 'localhost:8080/notes?text=il'
HTTP/1.1 200 OK
content-type: application/json
vary: accept
cache-control: max-age=60

["milk","silk"]
\`\`\`

## How lines are read

* Words are separated by spaces and commas. They may be written in any case, with \`-\` for \`_\`, and with an \`@\` before
  the first one: \`@authorize admin\`.
* Most words can be written in two ways: \`timeout 5s\` and \`timeout = 5s\`. In \`key = value\`, the escapes \`\\n\`, \`\\r\`,
  \`\\t\` and \`\\\\\` of the value are resolved.
* For each line the first that fits decides: a \`for\` line, \`key = value\`, \`Name: value\`, a word. Only the first \`=\`
  or \`:\` of a line counts, and only when nothing but letters, digits, \`-\` and \`_\` stands before it.
* \`Note: see the manual\` is thus a response header named \`Note\`. The start warns of header names that nobody has
  registered.
* A word that is nearly one of those below is reported at the start. When the word that was probably meant guards
  access, as \`authorize\` does, the endpoint is not published until the line is clear. So it
  is with \`param _u = user_id\`, \`_u is user_id\` and \`user params\`: the message has the likely right line.
* In this page \`<x>\` is a value of yours, \`…\` means more of the same, and \`|\` separates choices.
`;

/** `docs/reference/annotations.md`, whole. */
export function annotationsPage(words: readonly Annotation[]): string {
  const supported = words.filter((word) => word.supported);
  return [introduction, '## Words\n', ...supported.map(section), reservedWords(words)].join('\n');
}

function section(word: Annotation): string {
  const [name, ...synonyms] = word.names;
  const syntax = word.syntax.map((line) => `    ${line}\n`).join('');
  const also = synonyms.length === 0 ? '' : `\nAlso written ${listed(synonyms)}.\n`;
  const guards = word.guards ? '\nA misspelt line of it stops the endpoint instead of being read as prose.\n' : '';
  return `### ${name ?? 'Response headers'}\n\n${syntax}\n${wrapped(word.documentation)}\n${also}${guards}`;
}

function listed(names: readonly string[]): string {
  const [last, ...others] = names.map((name) => `\`${name}\``).toReversed();
  return others.length === 0 ? last! : `${others.toReversed().join(', ')} or ${last!}`;
}

function wrapped(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > 120) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.join('\n');
}

/** Words that are known and not done yet; nothing when there are none. */
function reservedWords(words: readonly Annotation[]): string {
  const reserved = words.filter((word) => !word.supported);
  if (reserved.length === 0) return '';
  const rows = reserved.map(
    (word) => `| ${word.names.map((name) => `\`${name}\``).join(', ')} | ${consequence(word)} |`,
  );
  return `## Words that are not supported yet

These words are kept for later versions. A line that begins with one is reported at the start; where the endpoint would
be wrong without it, the endpoint is not published. If such a line is prose, begin it with another word.

| word | the endpoint |
|---|---|
${rows.join('\n')}
`;
}

/** What the word itself says to a line of it. */
function consequence(word: Annotation): string {
  const name = word.names[0]!;
  const complaint = word.apply({ form: 'line', name, text: '', rest: '', words: [], line: 1 }, undefined as never);
  return complaint?.severity === 'error' ? 'is not published' : 'is published without it';
}
