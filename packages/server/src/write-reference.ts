/** `npm run reference`: writes the committed reference page and JSON Schema. */
import { mkdir, writeFile } from 'node:fs/promises';
import { packageFolder } from './package-files.ts';
import { jsonSchemaFile, referencePage } from './config/reference.ts';

const reference = new URL('../../docs/reference/', packageFolder);
await mkdir(reference, { recursive: true });
await writeFile(new URL('configuration.md', reference), referencePage());
await writeFile(new URL('pgway.schema.json', packageFolder), jsonSchemaFile());
