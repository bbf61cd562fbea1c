/** The OpenAPI document as an HTML page without scripts. */
import { escapeHtml } from '@pgway/core/internal';

/** An object in the OpenAPI document. */
type JsonObject = { readonly [key: string]: unknown };

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

/** @param documentPath the path of the OpenAPI document, if it is served */
export function htmlPage(document: JsonObject, documentPath: string | null): string {
  const info = asObject(document['info']);
  const title = escapeHtml(asText(info['title']));
  const description = descriptionOf(info);
  const operations = Object.entries(asObject(document['paths'])).flatMap(([path, item]) =>
    Object.entries(asObject(item)).map(([method, operation]) => operationHtml(method, path, asObject(operation))),
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
<h1>${title} <small>${escapeHtml(asText(info['version']))}</small></h1>
${description === '' ? '' : `<p class="prose">${escapeHtml(description)}</p>\n`}${
    documentPath === null ? '' : `<p><a href="${escapeHtml(documentPath)}">OpenAPI document</a></p>\n`
  }${operations.join('\n')}
</body>
</html>
`;
}

function operationHtml(method: string, path: string, operation: JsonObject): string {
  const description = descriptionOf(operation);
  return `<details id="${escapeHtml(asText(operation['operationId']))}">
<summary><b>${escapeHtml(method.toUpperCase())}</b> <code>${escapeHtml(path)}</code></summary>
<p><code>${escapeHtml(asText(operation['summary']))}</code></p>
${description === '' ? '' : `<p class="prose">${escapeHtml(description)}</p>\n`}${accessHtml(operation)}${parametersHtml(operation)}${bodyHtml(operation)}${responsesHtml(operation)}</details>`;
}

/** Returns an empty string for operations without authorization: no requirement, or an empty one among them. */
function accessHtml({ security }: JsonObject): string {
  if (!Array.isArray(security)) return '';
  if (security.length === 0 || security.some((requirement) => Object.keys(asObject(requirement)).length === 0))
    return '';
  const roles = [
    ...new Set(security.flatMap((requirement) => Object.values(asObject(requirement)).flat().map(String))),
  ];
  return `<p>For ${roles.length === 0 ? 'signed-in callers' : roles.map(escapeHtml).join(', ')}.</p>\n`;
}

function parametersHtml({ parameters }: JsonObject): string {
  if (!Array.isArray(parameters)) return '';
  const rows = parameters.map(asObject).map((parameter) => {
    const required = parameter['required'] === true ? 'required' : '';
    const { name, in: place, schema } = parameter;
    const cells = [asText(name), asText(place), formatSchema(schema), required, descriptionOf(parameter)];
    return `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
  });
  return `<table><tr><th>parameter<th>in<th>type<th><th>description</tr>\n${rows.join('\n')}\n</table>\n`;
}

function bodyHtml({ requestBody }: JsonObject): string {
  if (requestBody === undefined) return '';
  return `<h4>Body</h4>\n${contentHtml(asObject(requestBody))}`;
}

function responsesHtml({ responses }: JsonObject): string {
  // Error responses are references to shared responses.
  const inline = Object.entries(asObject(responses)).filter(([, response]) => asObject(response)['$ref'] === undefined);
  return inline
    .map(([status, response]) => {
      const description = asText(asObject(response)['description']);
      return `<h4>${escapeHtml(status)} ${escapeHtml(description)}</h4>\n${headersHtml(asObject(response))}${contentHtml(asObject(response))}`;
    })
    .join('');
}

function headersHtml({ headers }: JsonObject): string {
  return Object.entries(asObject(headers))
    .map(
      ([name, header]) => `<p><code>${escapeHtml(name)}</code>: ${escapeHtml(descriptionOf(asObject(header)))}</p>\n`,
    )
    .join('');
}

function contentHtml({ content }: JsonObject): string {
  return Object.entries(asObject(content))
    .map(([type, media]) => {
      const schema = formatSchema(asObject(media)['schema']);
      return `<p>${escapeHtml(type)}</p>\n<pre>${escapeHtml(schema)}</pre>\n`;
    })
    .join('');
}

/** Returns a short form of a JSON Schema: `integer or null`, `array of { id: integer, … }`. */
export function formatSchema(schema: unknown, indent = ''): string {
  const { type, items, properties, required, enum: values, anyOf, format } = asObject(schema);
  if (Array.isArray(anyOf)) return anyOf.map((variant) => formatSchema(variant, indent)).join(' or ');
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  const types = [type]
    .flat()
    .filter((name) => name !== undefined)
    .map(String);
  const words = types.map((name) => {
    if (name === 'array') return `array of ${formatSchema(items, indent)}`;
    if (name !== 'object' || properties === undefined)
      return name === 'string' && typeof format === 'string' ? format : name;
    return formatMembers(asObject(properties), required, indent);
  });
  return words.length === 0 ? 'any JSON' : words.join(' or ');
}

function formatMembers(properties: JsonObject, required: unknown, indent: string): string {
  const names = Array.isArray(required) ? required.map(String) : [];
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(
    ([key, schema]) => `${inner}${key}${names.includes(key) ? '' : '?'}: ${formatSchema(schema, inner)}`,
  );
  return `{\n${lines.join('\n')}\n${indent}}`;
}

/** Returns the description; the document escapes `<` in Markdown. */
function descriptionOf({ description }: JsonObject): string {
  return asText(description).replaceAll('&lt;', '<');
}

function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
