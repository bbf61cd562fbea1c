/** `pgscout --schema-dump`: a script that creates the objects of the database in an empty one. */
import { readObjects } from '../catalog/objects.ts';
import { inSnapshot } from '../catalog/snapshot.ts';
import type { CommandContext } from '../command/command-context.ts';
import { omissionNote, readOmissions } from '../catalog/omissions.ts';
import { systemSchema } from './definitions/member-privileges.ts';
import { definitionOptions, definitionText } from './definition-text.ts';
import { readDefinitions } from './read-definitions.ts';

/** Functions may name tables that come later. Functions with an `SET` option see their own settings. */
const preamble = `SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SET check_function_bodies = off;
SET client_min_messages = warning;
SET row_security = off;
SELECT pg_catalog.set_config('search_path', '', false);

`;

export async function runSchemaDump({ process, options, progress, withConnection }: CommandContext): Promise<number> {
  const { definitions, omissions } = await withConnection(({ client }) =>
    inSnapshot(client, async () => {
      const objects = [...(await readObjects(client, progress)), systemSchema];
      return {
        definitions: await readDefinitions(client, objects, definitionOptions(options), progress),
        omissions: await readOmissions(client),
      };
    }),
  );
  const notes = omissions.map(({ text }) => omissionNote(text));
  process.stdout.write(
    `${preamble}${notes.map((note) => `-- Note: ${note}\n\n`).join('')}${definitionText(definitions)}`,
  );
  process.stderr.write(notes.map((note) => `note: ${note}\n`).join(''));
  return 0;
}
