/** `npm run reference`: writes the committed reference page and JSON Schema. */
import { mkdir, writeFile } from 'node:fs/promises';
import { jsonSchemaFile, referencePage } from './reference.ts';

const reference = new URL('../../../../docs/reference/', import.meta.url);
await mkdir(reference, { recursive: true });
await writeFile(new URL('configuration.md', reference), referencePage());
await writeFile(new URL('../../pgway.schema.json', import.meta.url), jsonSchemaFile());
