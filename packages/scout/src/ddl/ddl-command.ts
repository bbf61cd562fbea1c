/** `pgscout --ddl <name[;name…]>`. */
import { readLargeObjects, readObjects } from '../catalog/objects.ts';
import { inSnapshot } from '../catalog/snapshot.ts';
import type { CommandContext } from '../command/command-context.ts';
import { CommandError, UsageError } from '../process/errors.ts';
import { printJson } from '../output/print-json.ts';
import { definitionOptions, definitionText } from './definition-text.ts';
import { type Definition, readDefinitions } from './read-definitions.ts';
import { type Member, selectMembers } from './members.ts';
import { nameMatcher, selectObjects, splitNames } from './select-objects.ts';

/** Prints the definitions. Throws a CommandError for names without an object, after the definitions of the others. */
export async function runDdl({
  process,
  operands,
  options,
  progress,
  withConnection,
}: CommandContext): Promise<number> {
  const names = splitNames(operands);
  if (names.length === 0) throw new UsageError('--ddl: needs a name, as in --ddl public.film');
  const { definitions, members, missing } = await withConnection(({ client }) =>
    inSnapshot(client, async () => {
      const objects = await readObjects(client, progress);
      const largeObjects = names.some((name) => /^large object /i.test(name)) ? await readLargeObjects(client) : [];
      const all = [...objects, ...largeObjects];
      const isObject = (name: string): boolean => all.some(nameMatcher(name));
      const selection = selectObjects(all, names.filter(isObject));
      const others = await selectMembers(
        client,
        names.filter((name) => !isObject(name)),
      );
      return {
        missing: selectObjects(all, others.missing).missing,
        members: others.members,
        definitions: await readDefinitions(client, selection.objects, definitionOptions(options), progress),
      };
    }),
  );
  if (options.has('json')) printJson(process, [...definitions, ...members].map(toJson));
  else process.stdout.write(definitionText([...definitions, ...members]));
  if (missing.length > 0) throw new CommandError(missing.join('\n'));
  return 0;
}

function toJson({ object, statements }: Definition | Member): Readonly<Record<string, unknown>> {
  const { kind, schema, name, qualifiedName } = object;
  return { kind, schema, name, qualifiedName, statements };
}
