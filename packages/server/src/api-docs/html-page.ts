/** The API as a page for people: HTML alone, made from the OpenAPI document. */

/** A tree of JSON, read as far as it is known. */
type Node = { readonly [key: string]: unknown };

/** Text as HTML, in elements and in attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 small { font-weight: normal; opacity: .7; }
details { border: 1px solid #8886; border-radius: .4rem; margin: .5rem 0; padding: .3rem .8rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary b { display: inline-block; min-width: 4.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; overflow-wrap: anywhere; }
pre { overflow-x: auto; background: #8882; padding: .5rem; border-radius: .4rem; }
.prose { white-space: pre-wrap; }
`;

/** @param documentPath where the document itself is served, or null */
export function docsPage(document: Node, documentPath: string | null): string {
  const info = nodeOf(document['info']);
  const title = escapeHtml(textOf(info['title']));
  const description = proseOf(info);
  const operations = Object.entries(nodeOf(document['paths'])).flatMap(([path, item]) =>
    Object.entries(nodeOf(item)).map(([method, operation]) => operationHtml(method, path, nodeOf(operation))),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<h1>${title} <small>${escapeHtml(textOf(info['version']))}</small></h1>
${description === '' ? '' : `<p class="prose">${escapeHtml(description)}</p>\n`}${
    documentPath === null ? '' : `<p><a href="${escapeHtml(documentPath)}">OpenAPI document</a></p>\n`
  }${operations.join('\n')}
</body>
</html>
`;
}

function operationHtml(method: string, path: string, operation: Node): string {
  const description = proseOf(operation);
  return `<details id="${escapeHtml(textOf(operation['operationId']))}">
<summary><b>${escapeHtml(method.toUpperCase())}</b> <code>${escapeHtml(path)}</code></summary>
<p><code>${escapeHtml(textOf(operation['summary']))}</code></p>
${description === '' ? '' : `<p class="prose">${escapeHtml(description)}</p>\n`}${accessHtml(operation)}${parametersHtml(operation)}${bodyHtml(operation)}${answersHtml(operation)}</details>`;
}

/** Nothing where callers need not sign in: no requirement, or an empty one among them. */
function accessHtml({ security }: Node): string {
  if (!Array.isArray(security)) return '';
  if (security.length === 0 || security.some((one) => Object.keys(nodeOf(one)).length === 0)) return '';
  const roles = [...new Set(security.flatMap((one) => Object.values(nodeOf(one)).flat().map(String)))];
  return `<p>For ${roles.length === 0 ? 'signed-in callers' : roles.map(escapeHtml).join(', ')}.</p>\n`;
}

function parametersHtml({ parameters }: Node): string {
  if (!Array.isArray(parameters)) return '';
  const rows = parameters.map(nodeOf).map((parameter) => {
    const required = parameter['required'] === true ? 'required' : '';
    const { name, in: place, schema } = parameter;
    const cells = [textOf(name), textOf(place), schemaText(schema), required, proseOf(parameter)];
    return `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
  });
  return `<table><tr><th>parameter<th>in<th>type<th><th>description</tr>\n${rows.join('\n')}\n</table>\n`;
}

function bodyHtml({ requestBody }: Node): string {
  if (requestBody === undefined) return '';
  return `<h4>Body</h4>\n${contentHtml(nodeOf(requestBody))}`;
}

function answersHtml({ responses }: Node): string {
  // Refusals are the same for all operations: references to one response.
  const answers = Object.entries(nodeOf(responses)).filter(([, answer]) => nodeOf(answer)['$ref'] === undefined);
  return answers
    .map(([status, answer]) => {
      const description = textOf(nodeOf(answer)['description']);
      return `<h4>${escapeHtml(status)} ${escapeHtml(description)}</h4>\n${headersHtml(nodeOf(answer))}${contentHtml(nodeOf(answer))}`;
    })
    .join('');
}

function headersHtml({ headers }: Node): string {
  return Object.entries(nodeOf(headers))
    .map(([name, header]) => `<p><code>${escapeHtml(name)}</code>: ${escapeHtml(proseOf(nodeOf(header)))}</p>\n`)
    .join('');
}

function contentHtml({ content }: Node): string {
  return Object.entries(nodeOf(content))
    .map(([type, media]) => {
      const schema = schemaText(nodeOf(media)['schema']);
      return `<p>${escapeHtml(type)}</p>\n<pre>${escapeHtml(schema)}</pre>\n`;
    })
    .join('');
}

/** A schema in a few words: `integer or null`, `array of { id: integer, … }`. */
export function schemaText(schema: unknown, indent = ''): string {
  const { type, items, properties, required, enum: values, anyOf, format } = nodeOf(schema);
  if (Array.isArray(anyOf)) return anyOf.map((one) => schemaText(one, indent)).join(' or ');
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  const types = [type]
    .flat()
    .filter((one) => one !== undefined)
    .map(String);
  const words = types.map((one) => {
    if (one === 'array') return `array of ${schemaText(items, indent)}`;
    if (one !== 'object' || properties === undefined)
      return one === 'string' && typeof format === 'string' ? format : one;
    return membersText(nodeOf(properties), required, indent);
  });
  return words.length === 0 ? 'any JSON' : words.join(' or ');
}

function membersText(properties: Node, required: unknown, indent: string): string {
  const names = Array.isArray(required) ? required.map(String) : [];
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(
    ([key, schema]) => `${inner}${key}${names.includes(key) ? '' : '?'}: ${schemaText(schema, inner)}`,
  );
  return `{\n${lines.join('\n')}\n${indent}}`;
}

/** A description is Markdown, in which the document writes `<` as an entity. */
function proseOf({ description }: Node): string {
  return textOf(description).replaceAll('&lt;', '<');
}

function nodeOf(value: unknown): Node {
  return typeof value === 'object' && value !== null ? (value as Node) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
