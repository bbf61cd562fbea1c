import type { Annotation } from '../../src/endpoints/comment/annotation.ts';
import type { UploadOptionDefinition, UploadOptionDefinitions } from '../../src/endpoints/upload-option.ts';

const introduction = `# Annotations

<!-- Written from packages/core/src/endpoints/annotations by \`npm run docs\`. -->

Annotations are lines in the comment of a function or procedure. A routine is published when one of its lines begins
with \`HTTP\`; the other annotations configure the endpoint. All other lines become the description of the endpoint.

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

* Spaces and commas separate the name and the arguments. Names are case-insensitive, \`-\` is the same as \`_\`, and an
  \`@\` before the name is optional: \`@authorize admin\`.
* Most annotations have two forms: \`timeout 5s\` and \`timeout = 5s\`. The value of \`key = value\` may contain the escapes
  \`\\n\`, \`\\r\`, \`\\t\` and \`\\\\\`.
* The first form that matches a line applies: a \`for\` line, \`key = value\`, \`Name: value\`, an annotation name. Only the
  first \`=\` or \`:\` of a line counts, and only after a name of letters, digits, \`-\` and \`_\`.
* \`Note: see the manual\` is therefore a response header named \`Note\`. pgway warns of unregistered header names at start.
* pgway reports misspelt names at start and suggests the correct line. When the suggestion guards access, as \`authorize\`
  does, the endpoint is not published until you fix the line. Examples are \`param _u = user_id\`, \`_u is user_id\` and
  \`user params\`.
* On this page, \`<x>\` is a placeholder, \`…\` means that more arguments may follow, and \`|\` separates alternatives.
`;

/** The options of upload handlers, by the name of the handler; `null` for those that every handler has. */
export type UploadOptionTable = readonly (readonly [handler: string | null, options: UploadOptionDefinitions])[];

/** Returns the text of `docs/reference/annotations.md`. */
export function annotationsPage(annotations: readonly Annotation[], uploadOptions: UploadOptionTable = []): string {
  const sections = annotations.map((annotation) =>
    annotation.heading === 'Upload options'
      ? `${section(annotation)}\n${uploadOptionTable(uploadOptions)}`
      : section(annotation),
  );
  return [introduction, '## Annotations\n', ...sections, ''].join('\n');
}

function uploadOptionTable(handlers: UploadOptionTable): string {
  const rows = handlers.flatMap(([handler, options]) =>
    Object.entries(options).map(([name, option]) => {
      const value = option.default === null ? '' : `\`${String(option.default)}\``;
      const cells = [`\`${name}\``, handler === null ? 'all' : `\`${handler}\``, valueText(option), value];
      return `| ${[...cells, option.description].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
    }),
  );
  return `| option | handler | value | default | effect |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
}

function valueText({ type, orList, min, max }: UploadOptionDefinition): string {
  if (type === 'boolean') return orList === true ? 'on/off, or a list' : 'on/off';
  if (type === 'sql') return 'SQL';
  if (type !== 'integer') return type;
  return max === undefined ? 'integer' : `integer from ${min ?? 0} to ${max}`;
}

function section(annotation: Annotation): string {
  const [name, ...synonyms] = annotation.names;
  const syntax = annotation.syntax.map((line) => `    ${line}\n`).join('');
  const synonymLine = synonyms.length === 0 ? '' : `\nSynonyms: ${joinNames(synonyms)}.\n`;
  const guards = annotation.isGuard ? '\nIf this line is misspelled, the endpoint is not published.\n' : '';
  return `### ${name ?? annotation.heading}\n\n${syntax}\n${wrap(annotation.documentation)}\n${synonymLine}${guards}`;
}

function joinNames(names: readonly string[]): string {
  const [last, ...others] = names.map((name) => `\`${name}\``).toReversed();
  return others.length === 0 ? last! : `${others.toReversed().join(', ')} or ${last!}`;
}

function wrap(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > 120) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.join('\n');
}
