/** Names and texts that mean something to Markdown, HTML, Mermaid, a terminal or the reader of the file. */
import { freshDatabase } from '@pgway/testing';
import { marked } from 'marked';
import { expect, onTestFinished, test } from 'vitest';
import { folderWith } from '../support/folder.ts';
import { isPlain, scout } from '../support/scout.ts';

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A schema in which a name is that of everything. */
function schemaSql(name: string): string {
  const [quoted, text] = [quote(name), literal(name)];
  return `
    create schema ${quoted};
    comment on schema ${quoted} is ${text};
    create table ${quoted}.${quoted} (${quoted} text primary key default ${text}, b text);
    comment on column ${quoted}.${quoted}.b is ${text};
    create table ${quoted}.second (a text constraint ${quoted} references ${quoted}.${quoted});
    create type ${quoted}.size as enum (${text});
    create domain ${quoted}.amount as text check (value <> ${text});
    create type ${quoted}.pair as (${quoted} ${quoted}.size);
    create function ${quoted}.${quoted}(${quoted} ${quoted}.size) returns text language sql as 'select null::text';
    comment on function ${quoted}.${quoted}(${quoted}.size) is ${literal(`HTTP GET /x\n${name}`)};`;
}

async function document(name: string): Promise<string> {
  const database = await freshDatabase(schemaSql(name));
  onTestFinished(() => database.drop());
  const { code, stdout } = await scout(['--docs', '-c', database.connectionString]);
  expect(code).toBe(0);
  const folder = await folderWith({ 'docs.md': stdout });
  expect(await scout(['--commit-docs', 'docs.md', '-c', database.connectionString], { folder })).toEqual({
    code: 0,
    stdout: '',
    stderr: 'no comment is edited\n',
  });
  return stdout;
}

/** The elements of the page, sorted, without those of code and comments, whose texts have several forms. */
function elements(markdown: string): readonly string[] {
  const html = marked(markdown)
    .replace(/<!--[^]*?-->/g, '')
    .replace(/<pre>[^]*?<\/pre>/g, '');
  return html
    .match(/<\/?[a-z!][^>]*>/gi)!
    .filter((tag) => !/^<(\/?code|\/?p|br)>$/.test(tag))
    .toSorted();
}

const names = [
  'a-->b <!-- /pgscout --> <!-- pgscout SCHEMA public none -->',
  '<script>alert(1)</script> <b onclick=x> &lt;',
  '| a | `b` ``` c | \\| \\',
  '```\n# head\n~~~\n| - |\n\n---',
  '*a* _b_ **c** [d](/e) ![f](g) $h$ ~~i~~ @j #k',
  'x" ||--o{ "y % ; # {} \\ $$ %%{init}%%',
  '\u001b[31mred\u202e\r\n\t end  ',
  'pk',
  '-',
  '0',
  ' ',
  '"\'',
  'ü☃日本𝒳',
];

/** Every line that the diagram can have. */
const diagramLine =
  /^(erDiagram| {2}"[^"%\\<>{}#;`|$&\n]+"( \{| (\|\||\|o)--o[{|] "[^"%\\<>{}#;`|$&\n]+" : "[^"%\\<>{}#;`|$&\n]+")?| {4}[A-Za-z_\u00c0-\u024f][\w()[\]\u00c0-\u024f]* (?!(?:PK|FK|UK)\b)[A-Za-z_\u00c0-\u024f][\w()[\]\u00c0-\u024f]*( PK| FK)?| {2}\})$/i;

test.each(names)('%j is shown, and changes nothing else of the page', async (name) => {
  const text = await document(name);
  expect(isPlain(text.replaceAll('\t', ' '))).toBe(true);
  expect(elements(text)).toEqual(elements(await document('name')));
  const [, diagram] = /```mermaid\n([^]*?)\n```/.exec(text)!;
  for (const line of diagram!.split('\n')) expect(line).toMatch(diagramLine);
});
